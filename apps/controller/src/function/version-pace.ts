import type { Clock } from "@sless/kube";

/** Bounds how quickly versions of one Function follow each other, however quickly they become ready. */
export interface VersionPace {
  /** Takes leave to make one more version now: 0, or how many ms to wait first. */
  take(functionUid: string): number;
  forget(functionUid: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** A person saving often, or a script deploying in a loop, never meets these; a runaway client does (security 10). */
const BURST = 10;
const REFILL_MS = 1_000;

/** One token bucket per Function, in memory: a new leader starts with full ones, which is harmless. */
export const createVersionPace = (clock: Pick<Clock, "monotonic">): VersionPace => {
  const buckets = new Map<string, Bucket>();
  return {
    take: (functionUid) => {
      const now = clock.monotonic();
      const { tokens, at } = buckets.get(functionUid) ?? { tokens: BURST, at: now };
      const available = Math.min(BURST, tokens + (now - at) / REFILL_MS);
      const granted = available >= 1;
      buckets.set(functionUid, { tokens: granted ? available - 1 : available, at: now });
      return granted ? 0 : Math.ceil((1 - available) * REFILL_MS);
    },
    forget: (functionUid) => {
      buckets.delete(functionUid);
    },
  };
};
