import { CONDITION_TYPES, type Condition, type Reason } from "@sless/contracts";
import { boundedText } from "./text.js";

export type ConditionedKind = keyof typeof CONDITION_TYPES;

/** What a condition says, apart from when it began to. */
export interface Verdict {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

/** Why something is not as wanted: what every decision function answers, or undefined when all is well. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
}

/** Makes a decision's answer, in the words of the closed set of reasons. */
export const problem = (reason: Reason, message: string): Problem => ({ reason, message });

export const holds = (reason: Reason, message = ""): Verdict => ({ status: "True", reason, message });
export const fails = ({ reason, message }: Problem): Verdict => ({ status: "False", reason, message });

/** Verdicts of one reconcile by condition type. A type without verdict keeps what it said before. */
export type Verdicts<K extends ConditionedKind> = Partial<Record<(typeof CONDITION_TYPES)[K][number], Verdict>>;

const sameStatement = (a: Condition, verdict: Verdict, message: string): boolean =>
  a.status === verdict.status && a.reason === verdict.reason && a.message === message;

const makeCondition = (previous: Condition | undefined, type: string, verdict: Verdict, at: Stamp): Condition => {
  const message = boundedText(verdict.message);
  if (previous && sameStatement(previous, verdict, message) && previous.observedGeneration === at.generation) {
    return previous;
  }
  const unchanged = previous?.status === verdict.status;
  return {
    type,
    status: verdict.status,
    reason: verdict.reason,
    message,
    lastTransitionTime: unchanged ? previous.lastTransitionTime : at.time,
    observedGeneration: at.generation,
  };
};

export interface Stamp {
  /** RFC 3339. */
  readonly time: string;
  /** Generation of the object that the verdicts are about. */
  readonly generation: number;
}

/**
 * The conditions that follow from the earlier ones and the verdicts, in the kind's order. `lastTransitionTime` moves
 * only when a status changes, as the Kubernetes convention has it; types that the kind does not have are dropped.
 */
export const makeConditions = <K extends ConditionedKind>(
  kind: K,
  previous: readonly Condition[],
  verdicts: Verdicts<K>,
  at: Stamp,
): Condition[] =>
  (CONDITION_TYPES[kind] as readonly (typeof CONDITION_TYPES)[K][number][]).flatMap((type) => {
    const earlier = previous.find((condition) => condition.type === type);
    const verdict = verdicts[type];
    if (verdict) return [makeCondition(earlier, type, verdict, at)];
    return earlier ? [earlier] : [];
  });

/** The condition of a type, if the object has it. */
export const conditionOf = (
  object: { readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined },
  type: string,
): Condition | undefined => object.status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (condition: Condition | undefined): boolean => condition?.status === "True";
