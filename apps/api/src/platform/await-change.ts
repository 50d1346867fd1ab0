import type { ChangeSignals } from "./change-signals.js";

export interface AwaitOptions<T> {
  readonly signals: ChangeSignals;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly read: () => Promise<T>;
  /** True when there is nothing left to wait for. */
  readonly settled: (value: T) => boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Reads until the value is settled or the time is up, anew after each change and never without one.
 * The subscription stands before the first read, so that no change falls in between; and it is always the API server's
 * word that is judged, since an event may be older than what the caller wrote.
 * @returns the last value read, settled or not. @throws the signal's reason when it aborts.
 */
export const awaitChange = async <T>(options: AwaitOptions<T>): Promise<T> => {
  const { signals, key, read, settled, timeoutMs, signal } = options;
  const state = { changed: false, late: false, wake: (): void => undefined };
  const unsubscribe = signals.subscribe(key, () => {
    state.changed = true;
    state.wake();
  });
  const timer = setTimeout(() => {
    state.late = true;
    state.wake();
  }, timeoutMs);
  const onAbort = (): void => state.wake();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      state.changed = false;
      const value = await read();
      if (settled(value) || state.late) return value;
      await new Promise<void>((resolve) => {
        state.wake = resolve;
        if (state.changed || state.late || signal.aborted) resolve();
      });
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    unsubscribe();
  }
};
