import { createBackoff, pause, type BackoffOptions } from "./backoff.js";
import type { KubeClient, Selection } from "./client.js";
import { createDeferred } from "./deferred.js";
import { GoneError, TransportError } from "./errors.js";
import type { Logger } from "./logger.js";
import type { KubeObject, Resource } from "./object.js";

/** Receives the mirrored state. `E` is what `prepare` makes of an object. */
export interface ReflectorSink<E> {
  /** The whole truth, after a full list: what is not in it is gone. */
  replace(entries: E[]): void;
  upsert(entry: E): void;
  remove(entry: E): void;
  /** Everything up to this resource version has been handed over; bookmarks advance it too. */
  progress(resourceVersion: string): void;
}

export interface ReflectorOptions<T extends KubeObject, E> {
  client: Pick<KubeClient, "list" | "watch">;
  resource: Resource<T>;
  selection?: Selection | undefined;
  /** Runs on each object as it comes, page by page, so that what is not kept is never held. */
  prepare: (object: T) => E;
  sink: ReflectorSink<E>;
  logger: Logger;
  pageSize?: number | undefined;
  /** The server ends a watch after a time between this and twice this. */
  watchTimeoutSeconds?: number | undefined;
  /** A watch that is silent for longer is dead; bookmarks come about once a minute. */
  idleTimeoutMs?: number | undefined;
  backoff?: BackoffOptions | undefined;
}

export interface Reflector {
  /** Mirrors until the signal aborts. Never throws for what a server does. */
  run: (signal: AbortSignal) => Promise<void>;
  /** Resolves after the first full list; rejects when the run ends before it. */
  readonly synced: Promise<void>;
  readonly lastResourceVersion: string | undefined;
}

/** As client-go: short enough to heal quickly, long enough that a broken server gets a few requests a minute. */
const DEFAULT_BACKOFF: BackoffOptions = { minMs: 200, maxMs: 30_000 };
/** A server that is away costs little to ask, and routes should be fresh soon after it is back. */
const UNREACHABLE_MAX_MS = 5_000;
/** Failures further apart than this are not the same trouble. */
const QUIET_RESETS_BACKOFF_MS = 60_000;
/** A watch that ends well, but sooner than this, would otherwise be opened in a hot loop. */
const SHORT_WATCH_MS = 1_000;
const DEFAULT_PAGE_SIZE = 500;
const DEFAULT_WATCH_TIMEOUT_SECONDS = 240;
const DEFAULT_IDLE_TIMEOUT_MS = 90_000;

/**
 * Keeps a sink equal to what the API server holds: a list in pages, then watches resumed from the last resource version.
 * A version that the server no longer knows (410 as answer, as ERROR event, or on a later page) leads to a fresh list;
 * every failure to a jittered, growing wait.
 */
export const createReflector = <T extends KubeObject, E>(options: ReflectorOptions<T, E>): Reflector => {
  const { client, resource, selection = {}, prepare, sink, logger } = options;
  const backoff = createBackoff(options.backoff ?? DEFAULT_BACKOFF);
  const synced = createDeferred<void>();
  let resumeFrom: string | undefined;
  let lastResourceVersion: string | undefined;
  let lastFailure = -Infinity;

  const advance = (version: string | undefined): void => {
    if (!version) return;
    resumeFrom = version;
    lastResourceVersion = version;
    sink.progress(version);
  };

  const relist = async (signal: AbortSignal): Promise<void> => {
    const entries: E[] = [];
    let next: string | undefined;
    let version: string;
    do {
      const limit = options.pageSize ?? DEFAULT_PAGE_SIZE;
      const page = await client.list(resource, { ...selection, limit, continue: next, signal });
      for (const object of page.items) entries.push(prepare(object));
      next = page.continue;
      version = page.resourceVersion;
    } while (next);
    sink.replace(entries);
    advance(version);
    synced.resolve();
  };

  const follow = async (from: string, signal: AbortSignal): Promise<void> => {
    const seconds = options.watchTimeoutSeconds ?? DEFAULT_WATCH_TIMEOUT_SECONDS;
    const stream = client.watch(resource, {
      ...selection,
      resourceVersion: from,
      timeoutSeconds: Math.ceil(seconds * (1 + Math.random())),
      idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      signal,
    });
    for await (const { type, object } of stream) {
      if (type === "DELETED") sink.remove(prepare(object));
      else if (type !== "BOOKMARK") sink.upsert(prepare(object));
      advance(object.metadata.resourceVersion);
    }
  };

  const waitAfter = async (error: unknown, signal: AbortSignal): Promise<void> => {
    const now = performance.now();
    if (now - lastFailure > QUIET_RESETS_BACKOFF_MS) backoff.reset();
    lastFailure = now;
    const waitMs = backoff.next(error instanceof TransportError ? UNREACHABLE_MAX_MS : undefined);
    const fields = { kind: resource.kind, err: error, waitMs, resourceVersion: resumeFrom };
    if (error instanceof GoneError) logger.info(fields, "resource version is too old, listing anew");
    else logger.warn(fields, "list or watch ended early, trying again");
    await pause(waitMs, signal);
  };

  const turn = async (signal: AbortSignal): Promise<void> => {
    try {
      if (resumeFrom === undefined) await relist(signal);
      const start = performance.now();
      if (resumeFrom !== undefined) await follow(resumeFrom, signal);
      if (!signal.aborted && performance.now() - start < SHORT_WATCH_MS)
        await waitAfter(new Error("very short watch"), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof GoneError) resumeFrom = undefined;
      await waitAfter(error, signal);
    }
  };

  return {
    run: async (signal) => {
      while (!signal.aborted) await turn(signal);
      synced.reject(signal.reason);
    },
    synced: synced.promise,
    get lastResourceVersion() {
      return lastResourceVersion;
    },
  };
};
