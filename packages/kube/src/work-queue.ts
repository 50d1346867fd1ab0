import { createDeferred, type Deferred } from "./deferred.js";
import { createKeyedRateLimiter, type RateLimiterOptions } from "./rate-limiter.js";

/** Where a queue reports to; names follow client-go's workqueue metrics. Durations are seconds. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  add(): void;
  retry(): void;
  /** From being queued to being taken. */
  latency(seconds: number): void;
  workDuration(seconds: number): void;
}

export interface WorkQueueOptions {
  rateLimit?: RateLimiterOptions | undefined;
  metrics?: WorkQueueMetrics | undefined;
}

/**
 * A queue of keys: a key that waits is not queued twice, a key in work is never handed out again before `finish` (what
 * came meanwhile queues it once more), and keys leave in the order they came, so that none starves.
 */
export interface WorkQueue {
  add: (key: string) => void;
  /** Adds the key later; of several times the earliest counts. */
  addAfter: (key: string, ms: number) => void;
  /** Adds the key after its own growing wait, and no faster than the queue's overall rate. Returns the wait in ms. */
  addRateLimited: (key: string) => number;
  /** The key's work went well: its next wait starts small again. */
  forget: (key: string) => void;
  /** How often the key was added rate-limited since it was forgotten. */
  retries: (key: string) => number;
  /** The next key, once there is one; undefined when the queue is shut down. Every key taken must be finished. */
  take: () => Promise<string | undefined>;
  finish: (key: string) => void;
  /** Takes nothing in any more and wakes those who wait; `drained` resolves when the keys in work are finished. */
  shutDown: () => void;
  readonly drained: Promise<void>;
  readonly length: number;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

interface Delayed {
  timer: NodeJS.Timeout;
  due: number;
}

/** Timers of keys to be added later, at most one each. */
const createDelays = (fire: (key: string) => void) => {
  const delayed = new Map<string, Delayed>();
  const drop = (key: string): void => {
    clearTimeout(delayed.get(key)?.timer);
    delayed.delete(key);
  };
  return {
    schedule: (key: string, ms: number): void => {
      const due = performance.now() + ms;
      const known = delayed.get(key);
      if (known && known.due <= due) return;
      drop(key);
      const onDue = (): void => {
        delayed.delete(key);
        fire(key);
      };
      delayed.set(key, { due, timer: setTimeout(onDue, Math.min(ms, MAX_TIMER_MS)) });
    },
    drop,
    clear: (): void => [...delayed.keys()].forEach(drop),
  };
};

const NO_METRICS: WorkQueueMetrics = {
  depth: () => undefined,
  add: () => undefined,
  retry: () => undefined,
  latency: () => undefined,
  workDuration: () => undefined,
};

/** Creates a keyed, rate-limited work queue. */
export const createWorkQueue = ({ rateLimit, metrics = NO_METRICS }: WorkQueueOptions = {}): WorkQueue => {
  const limiter = createKeyedRateLimiter(rateLimit);
  /** Queued keys in their order, with the time they were queued. */
  const queued = new Map<string, number>();
  /** Keys in work, with the time they were taken. */
  const working = new Map<string, number>();
  /** Keys that came again while in work. */
  const again = new Set<string>();
  const takers: Deferred<string | undefined>[] = [];
  const drained = createDeferred<void>();
  let shut = false;

  const hand = (key: string, queuedAt: number): string => {
    const now = performance.now();
    working.set(key, now);
    metrics.latency((now - queuedAt) / 1000);
    metrics.depth(queued.size);
    return key;
  };

  const add = (key: string): void => {
    if (shut || queued.has(key)) return;
    if (working.has(key)) {
      again.add(key);
      return;
    }
    delays.drop(key);
    metrics.add();
    const taker = takers.shift();
    if (taker) {
      taker.resolve(hand(key, performance.now()));
      return;
    }
    queued.set(key, performance.now());
    metrics.depth(queued.size);
  };

  const delays = createDelays(add);

  const addAfter = (key: string, ms: number): void => {
    if (shut) return;
    if (ms <= 0) add(key);
    else delays.schedule(key, ms);
  };

  const resolveWhenDrained = (): void => {
    if (shut && working.size === 0) drained.resolve();
  };

  return {
    add,
    addAfter,
    addRateLimited: (key) => {
      const waitMs = limiter.next(key);
      metrics.retry();
      addAfter(key, waitMs);
      return waitMs;
    },
    forget: limiter.forget,
    retries: limiter.retries,
    take: async () => {
      const first = queued.entries().next();
      if (!first.done && !shut) {
        const [key, queuedAt] = first.value;
        queued.delete(key);
        return hand(key, queuedAt);
      }
      if (shut) return undefined;
      const taker = createDeferred<string | undefined>();
      takers.push(taker);
      return taker.promise;
    },
    finish: (key) => {
      const takenAt = working.get(key);
      if (takenAt === undefined) return;
      working.delete(key);
      metrics.workDuration((performance.now() - takenAt) / 1000);
      if (again.delete(key)) add(key);
      resolveWhenDrained();
    },
    shutDown: () => {
      shut = true;
      queued.clear();
      again.clear();
      delays.clear();
      metrics.depth(0);
      for (const taker of takers.splice(0)) taker.resolve(undefined);
      resolveWhenDrained();
    },
    drained: drained.promise,
    get length() {
      return queued.size;
    },
  };
};
