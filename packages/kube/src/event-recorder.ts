import { randomBytes } from "node:crypto";
import type { KubeClient } from "./client.js";
import { systemClock, type Clock } from "./clock.js";
import { NotFoundError } from "./errors.js";
import type { Logger } from "./logger.js";
import { createLru } from "./lru.js";
import type { KubeObject } from "./object.js";
import { events, type KubeEvent } from "./resources.js";

export interface EventRecorderOptions {
  client: Pick<KubeClient, "create" | "mergePatch">;
  /** Shown as the source, e.g. `sless-controller`. */
  component: string;
  logger: Logger;
  clock?: Clock | undefined;
  /** Events of one object that may come at once; then one every `refillMs`. Default 25 and 30 s. */
  burst?: number | undefined;
  refillMs?: number | undefined;
}

/** What happened to an object, for `kubectl describe`. */
export interface EventInput {
  type: "Normal" | "Warning";
  /** CamelCase, from a closed set. */
  reason: string;
  /** Cut to 1024 characters. */
  message: string;
}

export interface EventRecorder {
  /** Notes it and returns; the same again only raises its count. What cannot be written is logged, never thrown. */
  record(about: KubeObject, event: EventInput): void;
  /** Resolves when everything noted so far was written or given up. */
  flush(): Promise<void>;
}

interface Occurrence {
  about: KubeObject;
  event: EventInput;
  count: number;
  first: string;
  last: string;
  /** Name of the Event object once it was created. */
  writtenAs?: string;
}

const MAX_MESSAGE = 1024;
const REMEMBERED = 4096;
const MAX_PENDING = 1000;
const WRITE_TIMEOUT_MS = 10_000;

const cut = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;

/** Events of cluster-scoped objects live in `default`, as Kubernetes has it. */
const namespaceOf = (about: KubeObject): string => about.metadata.namespace ?? "default";

const makeEvent = (occurrence: Occurrence, component: string): KubeEvent => {
  const { about, event, count, first, last } = occurrence;
  const { name, namespace, uid, resourceVersion } = about.metadata;
  return {
    metadata: {
      name: `${(name ?? "").slice(0, 200)}.${randomBytes(8).toString("hex")}`,
      namespace: namespaceOf(about),
    },
    involvedObject: {
      ...(about.apiVersion && { apiVersion: about.apiVersion }),
      ...(about.kind && { kind: about.kind }),
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    type: event.type,
    reason: event.reason,
    message: event.message,
    count,
    firstTimestamp: first,
    lastTimestamp: last,
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
  };
};

/** Token buckets by object, so that one that flaps cannot flood the API server. */
const createObjectLimiter = (clock: Clock, burst: number, refillMs: number) => {
  const buckets = createLru<{ tokens: number; at: number }>(REMEMBERED);
  return (uid: string): boolean => {
    const now = clock.monotonic();
    const { tokens, at } = buckets.get(uid) ?? { tokens: burst, at: now };
    const available = Math.min(burst, tokens + (now - at) / refillMs);
    const allowed = available >= 1;
    buckets.set(uid, { tokens: allowed ? available - 1 : available, at: now });
    return allowed;
  };
};

/** Writes core/v1 Events in the background: repeats are counted in one Event, and each object has a bounded rate. */
export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => {
  const { client, component, logger, clock = systemClock, burst = 25, refillMs = 30_000 } = options;
  const known = createLru<Occurrence>(REMEMBERED);
  const isAllowed = createObjectLimiter(clock, burst, refillMs);
  const pending = new Set<Occurrence>();
  let working: Promise<void> | undefined;

  const create = async (occurrence: Occurrence): Promise<void> => {
    const event = makeEvent(occurrence, component);
    await client.create(events, event, { timeoutMs: WRITE_TIMEOUT_MS });
    occurrence.writtenAs = event.metadata.name ?? "";
  };

  const raiseCount = async (occurrence: Occurrence, name: string): Promise<void> => {
    const { about, count, last } = occurrence;
    const patch = { count, lastTimestamp: last };
    try {
      await client.mergePatch(events, { name, namespace: namespaceOf(about) }, patch, { timeoutMs: WRITE_TIMEOUT_MS });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      Object.assign(occurrence, { count: 1, first: last });
      await create(occurrence);
    }
  };

  const drain = async (): Promise<void> => {
    for (const occurrence of pending) {
      pending.delete(occurrence);
      try {
        await (occurrence.writtenAs ? raiseCount(occurrence, occurrence.writtenAs) : create(occurrence));
      } catch (err) {
        const { reason } = occurrence.event;
        logger.warn({ err, reason, object: occurrence.about.metadata.name }, "event could not be written");
      }
    }
    working = undefined;
  };

  const note = (about: KubeObject, event: EventInput): Occurrence => {
    const key = JSON.stringify([about.kind, about.metadata.uid, about.metadata.name, event]);
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const seen = known.get(key);
    if (seen) return Object.assign(seen, { count: seen.count + 1, last: now });
    const occurrence: Occurrence = { about, event, count: 1, first: now, last: now };
    known.set(key, occurrence);
    return occurrence;
  };

  return {
    record: (about, { type, reason, message }) => {
      if (pending.size >= MAX_PENDING || !isAllowed(about.metadata.uid ?? about.metadata.name ?? "")) {
        logger.debug({ reason, object: about.metadata.name }, "event dropped, too many");
        return;
      }
      pending.add(note(about, { type, reason, message: cut(message) }));
      // In the next tick: what is noted in this one is counted first and written once.
      working ??= Promise.resolve().then(drain);
    },
    flush: async () => {
      await working;
    },
  };
};
