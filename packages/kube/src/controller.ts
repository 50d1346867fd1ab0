import { createDeadline } from "./deadline.js";
import { createDeferred } from "./deferred.js";
import { ConflictError, KubeApiError, NotLeadingError } from "./errors.js";
import type { Informer } from "./informer.js";
import type { Logger } from "./logger.js";
import { createWorkQueue, type WorkQueue, type WorkQueueMetrics } from "./work-queue.js";
import type { RateLimiterOptions } from "./rate-limiter.js";

/** What a reconcile ends with when it did not throw. */
export interface ReconcileResult {
  /** Look again after this long, although nothing may have changed. */
  requeueAfterMs?: number;
}

/** Reads the state of the world for one key and brings it nearer to what is wanted. Must be idempotent. */
export type Reconcile = (key: string, context: { signal: AbortSignal }) => Promise<ReconcileResult>;

/** All is as wanted; a change will wake the key. */
export const done = (): ReconcileResult => ({});

/** As {@link done}, and look again after `ms`. */
export const requeueAfter = (ms: number): ReconcileResult => ({ requeueAfterMs: ms });

/** Trying again cannot help until something changes (a bad spec): no retry. */
export class StalledError extends Error {
  override name = "StalledError";
}

/** Something else has to happen first; look again after `retryAfterMs`, without growing waits. */
export class WaitingError extends Error {
  override name = "WaitingError";
  constructor(
    message: string,
    readonly retryAfterMs: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The caches did not fill in time; `message` names the kinds, and RBAC is the usual cause. */
export class SyncTimeoutError extends Error {
  override name = "SyncTimeoutError";
}

/** A watched kind and which keys a change of it concerns. Made by {@link source}. */
export interface Source {
  readonly kind: string;
  readonly synced: Promise<void>;
  subscribe(enqueue: (key: string) => void): () => void;
}

/**
 * Ties an informer to a controller. `mapToKeys` names the keys that a change of `value` concerns; of an update both
 * the new and the old value are mapped, so that whoever lost it hears too. Default: the object's own key.
 */
export const source = <V>(
  informer: Informer<V>,
  mapToKeys: (value: V, key: string) => readonly string[] = (_value, key) => [key],
): Source => ({
  kind: informer.kind,
  synced: informer.synced,
  subscribe: (enqueue) => {
    const notify = (value: V, key: string): void => new Set(mapToKeys(value, key)).forEach((each) => enqueue(each));
    return informer.addHandler({
      onAdd: notify,
      onUpdate: (value, old, key) =>
        new Set([...mapToKeys(old, key), ...mapToKeys(value, key)]).forEach((each) => enqueue(each)),
      onDelete: notify,
    });
  },
});

export interface ControllerOptions {
  name: string;
  sources: readonly Source[];
  reconcile: Reconcile;
  logger: Logger;
  /** Keys in work at once; one key never twice. Default 1. */
  concurrency?: number | undefined;
  /** How long to wait for the caches. Default 60 s. */
  syncTimeoutMs?: number | undefined;
  /** After this long a reconcile's signal aborts. Default 10 minutes. */
  reconcileTimeoutMs?: number | undefined;
  rateLimit?: RateLimiterOptions | undefined;
  metrics?: WorkQueueMetrics | undefined;
}

export interface Controller {
  /**
   * Reconciles until the signal aborts, then waits for what is in work (whose signals abort). Throws SyncTimeoutError
   * when the caches, which run on their own, do not fill in time.
   */
  run: (signal: AbortSignal) => Promise<void>;
  /** Asks for a key from outside. */
  enqueue: (key: string) => void;
}

const DEFAULT_SYNC_TIMEOUT_MS = 60_000;
const DEFAULT_RECONCILE_TIMEOUT_MS = 600_000;

const awaitSync = async (options: ControllerOptions, signal: AbortSignal): Promise<void> => {
  const pending = new Set(options.sources);
  const all = Promise.all(options.sources.map((from) => from.synced.then(() => pending.delete(from))));
  const timeoutMs = options.syncTimeoutMs ?? DEFAULT_SYNC_TIMEOUT_MS;
  const onTimeout = (): Error => {
    const kinds = [...pending].map((from) => from.kind).join(", ");
    return new SyncTimeoutError(
      `controller ${options.name}: no full list of ${kinds} in ${timeoutMs} ms; check that the API server answers, ` +
        `that the kinds are installed and that this account may list and watch them`,
    );
  };
  const deadline = createDeadline(timeoutMs, onTimeout, signal);
  const aborted = createDeferred<never>();
  deadline.signal.addEventListener("abort", () => aborted.reject(deadline.signal.reason), { once: true });
  if (deadline.signal.aborted) aborted.reject(deadline.signal.reason);
  try {
    await Promise.race([all, aborted.promise]);
  } finally {
    deadline.dispose();
  }
};

/** How a failed reconcile is tried again: the one place that knows. */
const createFailurePolicy = (name: string, queue: WorkQueue, logger: Logger) => {
  const retry = (key: string, err: unknown, minimumMs: number): void => {
    const waitMs = minimumMs > 0 ? minimumMs : queue.addRateLimited(key);
    if (minimumMs > 0) queue.addAfter(key, minimumMs);
    const fields = { controller: name, key, err, waitMs, retries: queue.retries(key) };
    if (err instanceof ConflictError) logger.debug(fields, "reconcile met a newer object, trying again");
    else logger.error(fields, "reconcile failed, trying again");
  };
  return (key: string, err: unknown): void => {
    if (err instanceof StalledError) {
      queue.forget(key);
      logger.warn({ controller: name, key, err }, "reconcile is stalled until something changes");
    } else if (err instanceof WaitingError) {
      queue.addAfter(key, err.retryAfterMs);
      logger.debug({ controller: name, key, reason: err.message, waitMs: err.retryAfterMs }, "reconcile waits");
    } else if (err instanceof NotLeadingError) {
      logger.warn({ controller: name, key }, "reconcile stopped: not the leader any more");
    } else {
      retry(key, err, err instanceof KubeApiError ? (err.retryAfterMs ?? 0) : 0);
    }
  };
};

const createWorker = (options: ControllerOptions, queue: WorkQueue) => {
  const onFailure = createFailurePolicy(options.name, queue, options.logger);
  const timeoutMs = options.reconcileTimeoutMs ?? DEFAULT_RECONCILE_TIMEOUT_MS;

  const reconcileOnce = async (key: string, signal: AbortSignal): Promise<void> => {
    const onTimeout = (): Error => new Error(`reconcile of ${key} took longer than ${timeoutMs} ms`);
    const deadline = createDeadline(timeoutMs, onTimeout, signal);
    try {
      const { requeueAfterMs } = await options.reconcile(key, { signal: deadline.signal });
      queue.forget(key);
      if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    } catch (error) {
      if (!signal.aborted) onFailure(key, error);
    } finally {
      deadline.dispose();
      queue.finish(key);
    }
  };

  return async (signal: AbortSignal): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) await reconcileOnce(key, signal);
  };
};

/**
 * Runs a reconcile over the keys that its sources name. Done forgets the key's failures; StalledError waits for a
 * change, WaitingError for its time, any other error for the key's growing wait.
 */
export const createController = (options: ControllerOptions): Controller => {
  const { name, sources, logger, concurrency = 1 } = options;
  const queue = createWorkQueue({ rateLimit: options.rateLimit, metrics: options.metrics });
  const work = createWorker(options, queue);
  return {
    enqueue: queue.add,
    run: async (signal) => {
      const unsubscribe = sources.map((from) => from.subscribe(queue.add));
      const stop = (): void => queue.shutDown();
      signal.addEventListener("abort", stop, { once: true });
      try {
        await awaitSync(options, signal);
        logger.info({ controller: name, concurrency }, "controller started");
        await Promise.all(Array.from({ length: concurrency }, () => work(signal)));
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", stop);
        unsubscribe.forEach((remove) => remove());
        queue.shutDown();
      }
    },
  };
};
