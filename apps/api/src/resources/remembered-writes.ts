import { ANNOTATIONS, type KubeObject } from "@sless/contracts";
import { z } from "zod";
import { IdempotencyMismatch } from "../errors.js";
import type { IdempotencyClaim } from "../http/idempotency.js";

const Remembered = z.array(z.object({ scope: z.string().max(64), body: z.string().max(64) })).max(100);
/** So many keyed writes of one object can be repeated safely; older keys are forgotten. */
const MAX_REMEMBERED = 8;

/** The annotation is also the tenant's to write: what does not fit counts as nothing. */
const readRemembered = (object: KubeObject): IdempotencyClaim[] => {
  try {
    return Remembered.parse(JSON.parse(object.metadata.annotations?.[ANNOTATIONS.idempotency] ?? "[]"));
  } catch {
    return [];
  }
};

/**
 * True when this very write was done already.
 * @throws IdempotencyMismatch when its key came with another body.
 */
export const wasDone = (object: KubeObject, claim: IdempotencyClaim | undefined): boolean => {
  const found = readRemembered(object).find(({ scope }) => scope === claim?.scope);
  if (!found || !claim) return false;
  if (found.body === claim.body) return true;
  throw new IdempotencyMismatch("This Idempotency-Key was used with another body. Use a new key for a new request.");
};

/** Annotations that remember a write beside the ones before it. */
export const rememberWrite = (
  object: KubeObject | undefined,
  claim: IdempotencyClaim | undefined,
): Record<string, string> => {
  if (!claim) return {};
  const before = object ? readRemembered(object) : [];
  return { [ANNOTATIONS.idempotency]: JSON.stringify([claim, ...before].slice(0, MAX_REMEMBERED)) };
};
