import { isLastingReason, type Condition, type KubeObject } from "@sless/contracts";

/** How a wait ended: `done`; `failed`, which waiting longer would not mend; `timeout`. */
export type WaitOutcome = "done" | "failed" | "timeout";

/** What Functions and Triggers have in common, as far as reading and waiting goes. */
export interface Item extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly Condition[] | undefined;
    readonly observedGeneration?: number | undefined;
  };
}

const readyOf = ({ status }: Item): { condition: Condition; observed: number } | undefined => {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  return condition && { condition, observed: condition.observedGeneration ?? status?.observedGeneration ?? 0 };
};

/**
 * Whether what was written is ready (R7). A condition speaks of the generation that it names; older ones say nothing
 * about the write that is waited for.
 * @param generation the least generation that counts, beside the object's own
 */
export const judgeReady = (
  object: Item,
  generation: number | undefined,
): Exclude<WaitOutcome, "timeout"> | undefined => {
  const ready = readyOf(object);
  if (!ready || ready.observed < Math.max(generation ?? 0, object.metadata.generation ?? 0)) return undefined;
  const { status, reason } = ready.condition;
  // A disabled trigger is what was asked for.
  if (status === "True" || reason === "Disabled") return "done";
  return isLastingReason(reason) ? "failed" : undefined;
};
