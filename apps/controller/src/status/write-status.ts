import type { Condition } from "@sless/contracts";
import { objectKeyOf, type EventRecorder, type KubeClient, type KubeObject, type Resource } from "@sless/kube";
import { sameJson } from "../same-json.js";
import { eventsOfTransitions } from "./transitions.js";

interface Conditioned extends KubeObject {
  status?: { conditions?: Condition[] | undefined } | undefined;
}

export interface StatusWriterDeps {
  readonly client: Pick<KubeClient, "patchStatus">;
  readonly events: Pick<EventRecorder, "record">;
}

/** A merge patch from `before` to `after`: changed fields whole, fields that are gone as null. */
const makePatch = (before: object, after: object): Record<string, unknown> => {
  const old = new Map<string, unknown>(Object.entries(before));
  const next = new Map<string, unknown>(Object.entries(after).filter(([, value]) => value !== undefined));
  const patch: Record<string, unknown> = {};
  for (const [field, value] of next) if (!sameJson(old.get(field), value)) patch[field] = value;
  for (const field of old.keys()) if (!next.has(field)) patch[field] = null;
  return patch;
};

/**
 * Writes a status once, and only what changed of it (D26), on the very object that was read: a newer one answers with a
 * conflict and the reconcile comes again. Events go out after the write, on transitions alone.
 * @returns the object as the server has it now; `cached` itself when there was nothing to write.
 */
export const createStatusWriter =
  (deps: StatusWriterDeps) =>
  async <T extends Conditioned>(resource: Resource<T>, cached: T, status: NonNullable<T["status"]>): Promise<T> => {
    const before = cached.status ?? {};
    const patch = makePatch(before, status);
    if (Object.keys(patch).length === 0) return cached;
    const { uid, resourceVersion } = cached.metadata;
    const written = await deps.client.patchStatus(resource, objectKeyOf(cached), patch, { uid, resourceVersion });
    for (const event of eventsOfTransitions(cached.status?.conditions ?? [], status.conditions ?? [])) {
      deps.events.record(cached, event);
    }
    return written;
  };

export type StatusWriter = ReturnType<typeof createStatusWriter>;
