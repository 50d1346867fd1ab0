/** Runs a task per key: one run of a key at a time, one more when it was added meanwhile. */
export interface WorkQueue {
  add(key: string): void;
  /** Adds the key after a time; an earlier time that is already set stays. */
  addAfter(key: string, ms: number): void;
  /** Takes no more; resolves when nothing runs. */
  close(): Promise<void>;
}

export interface WorkQueueOptions {
  /** A throw runs the key again, later each time. */
  reconcile: (key: string) => void | Promise<void>;
  onError: (key: string, error: unknown) => void;
}

const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 30_000;

/** Keys wait for the turn of the event loop, so that the events of one turn make one run. */
export const createWorkQueue = ({ reconcile, onError }: WorkQueueOptions): WorkQueue => {
  const dirty = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  const failures = new Map<string, number>();
  let closed = false;

  const retry = (key: string, error: unknown): void => {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    onError(key, error);
    addAfter(key, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1)));
  };
  const run = async (key: string): Promise<void> => {
    try {
      await reconcile(key);
      failures.delete(key);
    } catch (error) {
      retry(key, error);
    }
    running.delete(key);
    if (dirty.has(key)) schedule(key);
  };
  const schedule = (key: string): void => {
    setImmediate(() => {
      if (closed || running.has(key) || !dirty.delete(key)) return;
      running.set(key, run(key));
    });
  };
  const add = (key: string): void => {
    if (closed || dirty.has(key)) return;
    dirty.add(key);
    if (!running.has(key)) schedule(key);
  };
  const addAfter = (key: string, ms: number): void => {
    const at = Date.now() + ms;
    const set = timers.get(key);
    if (closed || (set && set.at <= at)) return;
    clearTimeout(set?.timer);
    const timer = setTimeout(
      () => {
        timers.delete(key);
        add(key);
      },
      // setTimeout fires at once for more than 2^31 ms; a key that is early only looks again.
      Math.min(ms, 2 ** 31 - 1),
    );
    timers.set(key, { at, timer });
  };

  return {
    add,
    addAfter,
    async close() {
      closed = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
};
