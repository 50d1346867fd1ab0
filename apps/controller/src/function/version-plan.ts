import type { Function, FunctionVersion } from "@sless/contracts";
import { conditionOf, isTrue } from "../status/condition-set.js";
import { lastingFailure } from "./failures.js";
import { hasContent, nextNumber, type Content } from "./versions.js";

/** What has to happen so that a version with the wanted content exists. */
export type VersionPlan =
  | { readonly kind: "exists" }
  | { readonly kind: "wait"; readonly afterMs: number }
  | { readonly kind: "create"; readonly number: number; readonly superseded: readonly FunctionVersion[] };

/**
 * A version that did not become ready is superseded at the earliest after this time: many writes in a row make a few
 * versions (security 10), and a write that mends a broken deploy still waits hardly at all.
 */
export const SUPERSEDE_AFTER_MS = 2_000;

/** Not ready, and nothing says yet that it failed. */
const isPending = (version: FunctionVersion): boolean =>
  !isTrue(conditionOf(version, "Ready")) && lastingFailure(version) === undefined;

const isRouted = (fn: Function, version: FunctionVersion): boolean =>
  (fn.status?.traffic ?? []).some(({ uid }) => uid === version.metadata.uid) ||
  (fn.spec.traffic ?? []).some((target) => target.version === version.spec.version);

/**
 * Decides whether a new version is due. The same content twice in a row makes none. At most one version is pending: one
 * that is superseded while it is built or starts is given up, and its number stays used.
 * @param versions own versions, newest first.
 * @param now milliseconds since the epoch.
 */
export const planVersion = (
  fn: Function,
  versions: readonly FunctionVersion[],
  content: Content,
  now: number,
): VersionPlan => {
  const newest = versions[0];
  if (newest && hasContent(newest, content)) return { kind: "exists" };
  if (newest && !isTrue(conditionOf(newest, "Ready"))) {
    const age = now - Date.parse(newest.metadata.creationTimestamp ?? "");
    if (age < SUPERSEDE_AFTER_MS) return { kind: "wait", afterMs: SUPERSEDE_AFTER_MS - Math.max(0, age) };
  }
  const superseded = newest && isPending(newest) && !isRouted(fn, newest) ? [newest] : [];
  return { kind: "create", number: nextNumber(fn, versions), superseded };
};

/**
 * Versions to remove: beside those that take calls or are named by `spec.traffic`, and the newest, `keepVersions` stay
 * for a rollback. Those that failed are counted apart, so that a series of broken deploys evicts no good one.
 */
export const versionsToPrune = (fn: Function, versions: readonly FunctionVersion[]): readonly FunctionVersion[] => {
  const candidates = versions.slice(1).filter((version) => !isRouted(fn, version));
  const failed = candidates.filter((version) => lastingFailure(version) !== undefined);
  const usable = candidates.filter((version) => lastingFailure(version) === undefined);
  return [...usable.slice(fn.spec.keepVersions), ...failed.slice(fn.spec.keepVersions)];
};
