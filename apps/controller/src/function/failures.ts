import { isLastingReason, type FunctionVersion, type Reason } from "@sless/contracts";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import { FINAL_AT_ONCE, FINAL_WHEN_REPEATED } from "../status/final-reasons.js";
import { isCurrent } from "./versions.js";

/**
 * Why the version does not answer, as its own `Ready` condition has it; undefined when it does. The reason of one that
 * was given up stands while its status catches up with that, or a reader would see it flicker.
 */
export const unreadiness = (version: FunctionVersion): Problem | undefined => {
  const ready = conditionOf(version, "Ready");
  if (!ready || !(isCurrent(version) || hasGivenUp(version)))
    return problem("Starting", `version ${version.spec.version} is being prepared`);
  if (isTrue(ready)) return undefined;
  return problem(ready.reason as Reason, ready.message || `version ${version.spec.version}: ${ready.reason}`);
};

/** A failure that does not mend itself; undefined while the version may still become ready. */
export const lastingFailure = (version: FunctionVersion): Problem | undefined => {
  const why = unreadiness(version);
  return why && isLastingReason(why.reason) ? why : undefined;
};

/**
 * True when starting the version again would only repeat its failure. A failed start counts from its second time on, so
 * that a broken deploy does not crash for ever and a passing cause does not end a good one. One that was scaled down for
 * it stays given up whatever its status has caught up with, or it would be started and stopped in turns. What others mend
 * (quota, nodes, image pulls) is never given up: it becomes ready by itself (D27).
 */
export const hasGivenUp = (version: FunctionVersion): boolean => {
  const ready = conditionOf(version, "Ready");
  const isAtRest = version.spec.replicas === 0;
  if (!ready || isTrue(ready) || !(isAtRest || isCurrent(version))) return false;
  if (FINAL_AT_ONCE.has(ready.reason)) return true;
  return FINAL_WHEN_REPEATED.has(ready.reason) && (isAtRest || (version.status?.restarts ?? 0) >= 1);
};
