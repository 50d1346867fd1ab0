/** Per key a doubling wait between the two bounds; over all keys a token bucket. */
export interface RateLimiterOptions {
  /** First wait of a key. Default 5 ms. */
  baseMs?: number | undefined;
  /** Longest wait of a key. Default 1 minute, so that what was mended outside shows within one. */
  maxMs?: number | undefined;
  /** Retries a second over all keys, in the long run. Default 50. */
  perSecond?: number | undefined;
  /** Retries that may come at once. Default 200. */
  burst?: number | undefined;
}

export interface KeyedRateLimiter {
  /** Milliseconds that the key has to wait now; counts one more failure of it. */
  next: (key: string) => number;
  forget: (key: string) => void;
  retries: (key: string) => number;
}

/** A bucket that may go into debt: each call returns how long until its token is there. */
const createTokenBucket = (perSecond: number, burst: number) => {
  let tokens = burst;
  let updated = performance.now();
  return (): number => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - updated) / 1000) * perSecond);
    updated = now;
    tokens -= 1;
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
  };
};

/** The rate limiter of work queues: the longer of the key's own wait and the bucket's. */
export const createKeyedRateLimiter = (options: RateLimiterOptions = {}): KeyedRateLimiter => {
  const { baseMs = 5, maxMs = 60_000, perSecond = 50, burst = 200 } = options;
  const failures = new Map<string, number>();
  const takeToken = createTokenBucket(perSecond, burst);
  return {
    next: (key) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.max(Math.min(baseMs * 2 ** Math.min(count, 40), maxMs), takeToken());
    },
    forget: (key) => {
      failures.delete(key);
    },
    retries: (key) => failures.get(key) ?? 0,
  };
};
