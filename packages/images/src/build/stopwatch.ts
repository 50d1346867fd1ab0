/** Takes the time of named steps, which may overlap. */
export interface Stopwatch {
  of<T>(step: string, run: () => Promise<T>): Promise<T>;
  /** Milliseconds by step; steps of the same name add up. */
  read(): Record<string, number>;
}

export function createStopwatch(): Stopwatch {
  const spent = new Map<string, number>();
  return {
    of: async (step, run) => {
      const start = performance.now();
      try {
        return await run();
      } finally {
        spent.set(step, (spent.get(step) ?? 0) + performance.now() - start);
      }
    },
    read: () => Object.fromEntries([...spent].map(([step, ms]) => [step, Math.round(ms * 10) / 10])),
  };
}
