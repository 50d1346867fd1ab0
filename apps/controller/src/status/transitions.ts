import type { Condition } from "@sless/contracts";
import type { EventInput } from "@sless/kube";

const NORMAL_FAILURES = new Set([
  "Pending",
  "Building",
  "Starting",
  "MovingTraffic",
  "ScaledDown",
  "Disabled",
  "NoCode",
]);

const describe = (condition: Condition): EventInput => ({
  type: condition.status === "True" || NORMAL_FAILURES.has(condition.reason) ? "Normal" : "Warning",
  reason: condition.reason,
  message: `${condition.type}: ${condition.message || condition.status}`,
});

const isTransition = (before: Condition | undefined, after: Condition): boolean =>
  before?.status !== after.status || before.reason !== after.reason;

/**
 * Events of one reconcile: one for each condition whose status or reason changed. A message that alone changes (a
 * counter, a log tail) is no event, or a crash loop would write one at each turn.
 */
export const eventsOfTransitions = (before: readonly Condition[], after: readonly Condition[]): EventInput[] =>
  after
    .filter((condition) =>
      isTransition(
        before.find(({ type }) => type === condition.type),
        condition,
      ),
    )
    .map(describe);
