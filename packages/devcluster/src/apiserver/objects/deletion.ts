import type { DeleteOptions, KubeObject } from "../../store/types.js";
import type { KindRules } from "./kind-rules.js";
import { formatTime } from "./metadata.js";

/** Finalizers by which the garbage collector holds an object until its dependents are dealt with. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";
export const ORPHAN_FINALIZER = "orphan";

const finalizersFor = (finalizers: readonly string[], policy: DeleteOptions["propagationPolicy"]): string[] => {
  if (policy === undefined) return [...finalizers];
  const others = finalizers.filter((name) => name !== FOREGROUND_FINALIZER && name !== ORPHAN_FINALIZER);
  if (policy === "Foreground") return [...others, FOREGROUND_FINALIZER];
  return policy === "Orphan" ? [...others, ORPHAN_FINALIZER] : others;
};

/** Sets on a draft what a deletion leaves on it: finalizers of the policy, time and grace period. */
export const markDeleted = (draft: KubeObject, rules: KindRules, options: DeleteOptions, now: number): void => {
  const { metadata } = draft;
  const finalizers = finalizersFor(metadata.finalizers ?? [], options.propagationPolicy);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const grace = rules.gracePeriod?.(draft, options.gracePeriodSeconds) ?? 0;
  const previous = metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp && (previous ?? 0) <= grace) return;
  metadata.deletionTimestamp = formatTime(now + grace * 1000);
  metadata.deletionGracePeriodSeconds = grace;
  if (draft.kind === "Namespace") draft["status"] = { ...(draft["status"] as object), phase: "Terminating" };
};
