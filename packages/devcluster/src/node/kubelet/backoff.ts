export interface BackoffOptions {
  /** First wait, ms. Kubernetes waits 10 s; devcluster 1 s, since its users sit before it. */
  baseMs: number;
  /** Longest wait, ms; Kubernetes 5 min. */
  maxMs: number;
  /** A run of this length, ms, makes the next failure a first one; Kubernetes 10 min. */
  resetMs: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 1000, maxMs: 300_000, resetMs: 600_000 };

/** Waits between starts of a container: none before the first restart, then doubling, as the kubelet has it. */
export const createBackoff = ({ baseMs, maxMs, resetMs }: BackoffOptions) => {
  let failures = 0;
  return {
    /** @param ranMs how long the last run took. @returns ms to wait before the next */
    next(ranMs: number): number {
      failures = ranMs >= resetMs ? 1 : failures + 1;
      return failures === 1 ? 0 : Math.min(maxMs, baseMs * 2 ** (failures - 2));
    },
  };
};
