import { setTimeout as delay } from "node:timers/promises";

/** Exponential growth between two bounds. */
export interface BackoffOptions {
  minMs: number;
  maxMs: number;
  /** Source of jitter in [0, 1). */
  random?: () => number;
}

export interface Backoff {
  /** Milliseconds to wait before the next attempt; doubles each time. `capMs` bounds this wait only. */
  next(capMs?: number): number;
  reset(): void;
}

/** Doubling waits, each with up to half of it taken off at random, so that many clients do not come back at once. */
export const createBackoff = ({ minMs, maxMs, random = Math.random }: BackoffOptions): Backoff => {
  let failures = 0;
  return {
    next: (capMs = maxMs) => {
      const full = Math.min(minMs * 2 ** Math.min(failures, 30), maxMs, capMs);
      failures += 1;
      return full * (1 - random() / 2);
    },
    reset: () => {
      failures = 0;
    },
  };
};

/** Waits, or returns early when the signal aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
