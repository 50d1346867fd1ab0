import type { ActiveTarget, Function, FunctionStatus, FunctionVersion, Trigger } from "@sless/contracts";
import {
  conditionOf,
  fails,
  holds,
  isTrue,
  makeConditions,
  problem,
  type Problem,
  type Verdicts,
} from "../status/condition-set.js";
import { summarize } from "../status/phases.js";
import { unreadiness } from "./failures.js";
import { isProblem } from "./code.js";

/** What one reconcile has found out so far. Steps fill it in by the `mark*` verbs; the end writes it. */
export interface FunctionDraft {
  readonly verdicts: Verdicts<"Function">;
  latestVersion?: number | undefined;
  readyVersion?: number | undefined;
  codeDigest?: string | undefined;
  traffic: readonly ActiveTarget[];
  url?: string | undefined;
}

/** A draft that repeats the earlier status: what no step speaks of stays. */
export const createFunctionDraft = (fn: Function): FunctionDraft => {
  const { latestVersion, readyVersion, codeDigest, traffic = [], url } = fn.status ?? {};
  return { verdicts: {}, latestVersion, readyVersion, codeDigest, traffic, url };
};

export const markCode = (draft: FunctionDraft, code: { readonly digest: string } | Problem): void => {
  draft.verdicts.CodeUploaded = isProblem(code) ? fails(code) : holds("Uploaded", `code ${code.digest.slice(0, 12)}`);
};

/** What was last written does not answer, and why. The first reason stays: later ones follow from it. */
export const markNotReady = (draft: FunctionDraft, why: Problem): void => {
  draft.verdicts.Ready ??= fails(why);
};

export const markReady = (draft: FunctionDraft): void => {
  const versions = draft.traffic.map(({ version, percent }) => `version ${version}: ${percent} %`).join(", ");
  draft.verdicts.Ready ??= holds("Ready", versions);
};

/** Takes over what is known of the newest version and of the newest one that became ready. */
export const markVersions = (draft: FunctionDraft, versions: readonly FunctionVersion[]): void => {
  const newest = versions[0];
  if (!newest) {
    draft.verdicts.VersionReady = fails(problem("Pending", "there is no version yet"));
    return;
  }
  const why = unreadiness(newest);
  const { version } = newest.spec;
  draft.verdicts.VersionReady = why ? fails(why) : holds("Ready", `version ${version}`);
  draft.latestVersion = Math.max(version, draft.latestVersion ?? 0);
  draft.codeDigest = newest.spec.codeDigest;
  const ready = versions.find((candidate) => isTrue(conditionOf(candidate, "Ready")));
  if (ready) draft.readyVersion = Math.max(ready.spec.version, draft.readyVersion ?? 0);
};

/** Something answers when a version that takes calls has an instance that is ready. */
export const markTraffic = (
  draft: FunctionDraft,
  traffic: readonly ActiveTarget[],
  versions: readonly FunctionVersion[],
): void => {
  draft.traffic = traffic;
  const targets = versions.filter(({ metadata }) => traffic.some(({ uid }) => uid === metadata.uid));
  if (targets.some(({ status }) => (status?.readyReplicas ?? 0) > 0)) {
    draft.verdicts.Serving = holds("Serving");
    return;
  }
  const why = targets.map(unreadiness).find((found) => found !== undefined);
  draft.verdicts.Serving = fails(
    problem("NotServing", why ? `nothing answers: ${why.message}` : "nothing answers yet"),
  );
};

/** URL of the oldest active http trigger. */
export const markUrl = (draft: FunctionDraft, triggers: readonly Trigger[]): void => {
  const active = triggers
    .filter((trigger) => isTrue(conditionOf(trigger, "Ready")) && trigger.status?.url !== undefined)
    .sort((a, b) => ageOf(a).localeCompare(ageOf(b)));
  draft.url = active[0]?.status?.url;
};

const ageOf = ({ metadata }: Trigger): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;

/** The status that follows from a draft. */
export const makeFunctionStatus = (fn: Function, draft: FunctionDraft, time: string): FunctionStatus => {
  const generation = fn.metadata.generation ?? 0;
  const conditions = makeConditions("Function", fn.status?.conditions ?? [], draft.verdicts, { time, generation });
  const { latestVersion, readyVersion, codeDigest, traffic, url } = draft;
  return {
    ...summarize("Function", conditions),
    conditions,
    observedGeneration: generation,
    ...(latestVersion !== undefined && { latestVersion }),
    ...(readyVersion !== undefined && { readyVersion }),
    ...(codeDigest !== undefined && { codeDigest }),
    ...(traffic.length > 0 && { traffic: [...traffic] }),
    ...(url !== undefined && { url }),
  };
};
