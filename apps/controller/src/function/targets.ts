import type { ActiveTarget, Function, FunctionVersion } from "@sless/contracts";
import { problem, type Problem } from "../status/condition-set.js";
import { hasGivenUp } from "./failures.js";

/** A version that shall take calls. */
export interface Target {
  readonly version: FunctionVersion;
  readonly percent: number;
  readonly tag?: string | undefined;
}

/** What a gateway needs to route to a target; written to `status.traffic`. */
export const makeActiveTarget = ({ version, percent, tag }: Target, concurrency: number): ActiveTarget => ({
  version: version.spec.version,
  name: version.metadata.name,
  uid: version.metadata.uid ?? "",
  percent,
  ...(tag !== undefined && { tag }),
  timeoutSec: version.spec.timeoutSec,
  concurrency,
});

/**
 * The targets of `status.traffic` that are versions of this Function. An entry of another uid, whoever wrote it, is
 * dropped, so that calls never reach another function's code (security 5).
 */
export const activeTargets = (fn: Function, versions: readonly FunctionVersion[]): Target[] =>
  (fn.status?.traffic ?? []).flatMap(({ version: number, uid, percent, tag }) => {
    const version = versions.find(({ metadata, spec }) => metadata.uid === uid && spec.version === number);
    return version ? [{ version, percent, tag }] : [];
  });

const explicitTargets = (
  wanted: NonNullable<Function["spec"]["traffic"]>,
  versions: readonly FunctionVersion[],
): Target[] | Problem => {
  const targets: Target[] = [];
  for (const { version: number, percent, tag } of wanted) {
    const version = versions.find(({ spec }) => spec.version === number);
    if (!version) return problem("VersionNotFound", missingVersion(number, versions));
    targets.push({ version, percent, tag });
  }
  return targets;
};

const missingVersion = (number: number, versions: readonly FunctionVersion[]): string => {
  const there = versions.map(({ spec }) => spec.version).join(", ");
  return `spec.traffic names version ${number}, which does not exist; there are: ${there || "none"}`;
};

export interface WantedInput {
  readonly fn: Function;
  /** Own versions, newest first. */
  readonly versions: readonly FunctionVersion[];
  readonly active: readonly Target[];
  /** A new write of the spec gives versions that had given up another try. */
  readonly retry: boolean;
}

/**
 * Which versions shall take calls: those that `spec.traffic` names, else the newest one. When the newest has given up,
 * what answers now stays; when nothing answers, the newest that may still work.
 */
export const wantedTargets = ({ fn, versions, active, retry }: WantedInput): readonly Target[] | Problem => {
  if (fn.spec.traffic) return explicitTargets(fn.spec.traffic, versions);
  const newest = versions[0];
  if (newest && (retry || !hasGivenUp(newest))) return [{ version: newest, percent: 100 }];
  if (active.length > 0) return active;
  const usable = versions.find((version) => !hasGivenUp(version));
  return usable ? [{ version: usable, percent: 100 }] : [];
};
