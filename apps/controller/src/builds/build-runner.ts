import type { Clock } from "@sless/kube";
import type { BuiltImage } from "./image-builder.js";

/** A build to run. `key` is who is told of its end, `tenant` whose share it takes. */
export interface BuildJob {
  readonly uid: string;
  readonly key: string;
  readonly tenant: string;
  run(signal: AbortSignal): Promise<BuiltImage>;
}

export type BuildState =
  | { readonly kind: "queued" }
  | { readonly kind: "running"; readonly startedAt: number }
  | { readonly kind: "built"; readonly startedAt: number; readonly seconds: number; readonly result: BuiltImage }
  | {
      readonly kind: "failed";
      readonly error: unknown;
      readonly attempts: number;
      /** Milliseconds since the epoch. */
      readonly failedAt: number;
    };

export interface BuildMetrics {
  running(count: number): void;
  queued(count: number): void;
  finished(outcome: "built" | "failed" | "cancelled", seconds: number): void;
}

export interface BuildRunner {
  /** Queues the build unless it is known; answers how it stands. */
  ensure(job: BuildJob): BuildState;
  /** How a build stands, if it is known. */
  state(uid: string): BuildState | undefined;
  /** Runs a build that has ended once more; its attempts stay counted. */
  retry(uid: string): void;
  /** Ends a build and forgets it. Resolves when nothing of it runs any more. */
  cancel(uid: string): Promise<void>;
  /** Ends all builds, takes no more, and resolves when none runs. */
  close(): Promise<void>;
}

interface BuildRunnerOptions {
  /** Builds at once. */
  readonly concurrency: number;
  /** Of them, at most this many of one tenant (security 9). */
  readonly perTenant: number;
  /** Called when a build has ended, with its key. */
  readonly onSettled: (key: string) => void;
  readonly clock: Clock;
  readonly metrics?: BuildMetrics | undefined;
}

interface Entry {
  readonly job: BuildJob;
  readonly abort: AbortController;
  state: BuildState;
  attempts: number;
  ended: Promise<void>;
}

/**
 * Runs builds in this process, in the order they came and within bounds. What was built is remembered by the version's
 * uid for as long as the process lives: the only record that nobody else can write.
 */
export const createBuildRunner = (options: BuildRunnerOptions): BuildRunner => {
  const { concurrency, perTenant, onSettled, clock, metrics } = options;
  const entries = new Map<string, Entry>();
  const queue = new Set<Entry>();
  const running = new Set<Entry>();
  let closed = false;

  const report = (): void => {
    metrics?.running(running.size);
    metrics?.queued(queue.size);
  };

  const runningOf = (tenant: string): number => [...running].filter(({ job }) => job.tenant === tenant).length;

  const nextEntry = (): Entry | undefined => [...queue].find(({ job }) => runningOf(job.tenant) < perTenant);

  const execute = async (entry: Entry): Promise<void> => {
    const startedAt = clock.now();
    const begun = clock.monotonic();
    const elapsed = (): number => (clock.monotonic() - begun) / 1000;
    entry.state = { kind: "running", startedAt };
    try {
      const result = await entry.job.run(entry.abort.signal);
      entry.state = { kind: "built", startedAt, seconds: elapsed(), result };
    } catch (error) {
      entry.attempts += 1;
      entry.state = { kind: "failed", error, attempts: entry.attempts, failedAt: clock.now() };
    }
    running.delete(entry);
    const { aborted } = entry.abort.signal;
    metrics?.finished(aborted ? "cancelled" : entry.state.kind === "built" ? "built" : "failed", elapsed());
    dispatch();
    if (!aborted) onSettled(entry.job.key);
  };

  const dispatch = (): void => {
    while (!closed && running.size < concurrency) {
      const entry = nextEntry();
      if (!entry) break;
      queue.delete(entry);
      running.add(entry);
      entry.ended = execute(entry);
    }
    report();
  };

  const enqueue = (entry: Entry): void => {
    entry.state = { kind: "queued" };
    queue.add(entry);
    dispatch();
  };

  const end = async (entry: Entry): Promise<void> => {
    queue.delete(entry);
    entries.delete(entry.job.uid);
    entry.abort.abort(new Error("the build is no longer wanted"));
    await entry.ended;
    report();
  };

  return {
    ensure: (job) => {
      const known = entries.get(job.uid);
      if (known) return known.state;
      const fresh: Entry = {
        job,
        abort: new AbortController(),
        state: { kind: "queued" },
        attempts: 0,
        ended: Promise.resolve(),
      };
      if (closed) return fresh.state;
      entries.set(job.uid, fresh);
      enqueue(fresh);
      return fresh.state;
    },
    state: (uid) => entries.get(uid)?.state,
    retry: (uid) => {
      const entry = entries.get(uid);
      if (entry?.state.kind === "failed" || entry?.state.kind === "built") enqueue(entry);
    },
    cancel: async (uid) => {
      const entry = entries.get(uid);
      if (entry) await end(entry);
    },
    close: async () => {
      closed = true;
      await Promise.all([...entries.values()].map(end));
    },
  };
};
