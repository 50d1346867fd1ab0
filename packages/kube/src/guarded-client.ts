import type { CallOptions, KubeClient } from "./client.js";
import type { Leadership } from "./leader-elector.js";
import { DEFAULT_TIMEOUT_MS } from "./transport.js";

/**
 * A client whose writes are sent only while this process surely leads: the clock is read right before each, and none
 * may be on its way for longer than nobody else can lead. Otherwise NotLeadingError. Reads pass. A process stopped in the
 * very moment between the check and the send is not covered: for that, writes carry preconditions (`createApplier`).
 */
export const createGuardedClient = (client: KubeClient, leadership: Leadership): KubeClient => {
  const bounded = <O extends CallOptions>(options: O | undefined): O => {
    leadership.assertLeading();
    const timeoutMs = Math.min(options?.timeoutMs ?? DEFAULT_TIMEOUT_MS, leadership.writeWindowMs());
    return { ...options, timeoutMs } as O;
  };
  return {
    ...client,
    create: async (resource, object, options) => client.create(resource, object, bounded(options)),
    replace: async (resource, object, options) => client.replace(resource, object, bounded(options)),
    mergePatch: async (resource, key, patch, options) => client.mergePatch(resource, key, patch, bounded(options)),
    patchStatus: async (resource, key, status, options) => client.patchStatus(resource, key, status, bounded(options)),
    apply: async (resource, object, options) => client.apply(resource, object, bounded(options)),
    applyStatus: async (resource, object, options) => client.applyStatus(resource, object, bounded(options)),
    delete: async (resource, key, options) => client.delete(resource, key, bounded(options)),
  };
};
