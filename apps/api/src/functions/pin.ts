import { ANNOTATIONS, type Function } from "@sless/contracts";
import type { MergePatch } from "@sless/kube";

/** True when `spec.traffic` was set by a rollback and not by the user. */
export const isPinned = ({ metadata }: Pick<Function, "metadata">): boolean =>
  metadata.annotations?.[ANNOTATIONS.pinnedBy] !== undefined;

/** Who rolled back and why, on the version that a rollback chose. */
export const pinOf = (fn: Function, version: number): { by: string; reason?: string } | undefined => {
  const { [ANNOTATIONS.pinnedBy]: by, [ANNOTATIONS.rollbackReason]: reason } = fn.metadata.annotations ?? {};
  const isTarget = fn.spec.traffic?.some((target) => target.version === version) ?? false;
  if (by === undefined || !isTarget) return undefined;
  return { by, ...(reason !== undefined && { reason }) };
};

/** Takes a rollback's marks off. */
export const withoutPinMarks: MergePatch = {
  annotations: { [ANNOTATIONS.pinnedBy]: null, [ANNOTATIONS.rollbackReason]: null },
};

/** The mark that a rollback leaves beside the traffic it sets. */
export const makePinMarks = (by: string, reason: string | undefined): MergePatch => ({
  annotations: { [ANNOTATIONS.pinnedBy]: by, [ANNOTATIONS.rollbackReason]: reason ?? null },
});
