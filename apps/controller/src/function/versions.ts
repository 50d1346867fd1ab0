import type { Function, FunctionSpec, FunctionVersion, FunctionVersionSpec } from "@sless/contracts";
import { LABELS } from "@sless/contracts";
import { sameJson } from "../same-json.js";

/**
 * Versions of this very Function, newest first: those of its namespace that carry its uid in label and spec. A version
 * of another function, or of an earlier one of the same name, is none (security 5).
 */
export const ownVersions = (fn: Function, candidates: readonly FunctionVersion[]): FunctionVersion[] =>
  candidates
    .filter(
      ({ metadata, spec }) =>
        metadata.namespace === fn.metadata.namespace &&
        metadata.labels?.[LABELS.functionUid] === fn.metadata.uid &&
        spec.functionUid === fn.metadata.uid,
    )
    .sort((a, b) => b.spec.version - a.spec.version);

/** What decides the behaviour of the code. Scale, traffic and keepVersions are no part of it. */
export type Content = Pick<
  FunctionVersionSpec,
  "codeDigest" | "runtime" | "entrypoint" | "memoryMB" | "timeoutSec" | "env"
>;

const pickContent = ({ codeDigest, runtime, entrypoint, memoryMB, timeoutSec, env }: Content): Content => ({
  codeDigest,
  runtime,
  entrypoint,
  memoryMB,
  timeoutSec,
  env,
});

/** Content that the Function asks for. */
export const contentOf = (spec: FunctionSpec, codeDigest: string): Content => pickContent({ ...spec, codeDigest });

/**
 * True when the version is what the Function asks for. The base image is left out on purpose: a new one alone makes no
 * version, or an operator's upgrade would restart every function at once; the next change of content picks it up.
 */
export const hasContent = (version: FunctionVersion, content: Content): boolean =>
  sameJson(pickContent(version.spec), content);

/** The next number: above every number that ever was, so that none is used twice. */
export const nextNumber = (fn: Function, versions: readonly FunctionVersion[]): number =>
  Math.max(0, fn.status?.latestVersion ?? 0, ...versions.map(({ spec }) => spec.version)) + 1;

/** Instances of a version that answer. Zero while its status speaks of an earlier spec: it may count pods that go. */
export const readyNow = (version: FunctionVersion): number =>
  isCurrent(version) ? (version.status?.readyReplicas ?? 0) : 0;

/** True when the version's status speaks of its present spec. */
export const isCurrent = (version: FunctionVersion): boolean =>
  version.status?.observedGeneration === version.metadata.generation;
