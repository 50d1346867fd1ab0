import { monotonicMs } from "../shared/monotonic-clock.js";
import type { WorkerProcess } from "./worker-process.js";

/** Looks often while calls are in progress, since memory can fill within a tenth of a second; seldom otherwise. */
const BUSY_INTERVAL_MS = 50;
const IDLE_INTERVAL_MS = 100;
/** A loop that has not turned for this long (three beats) is stuck. */
const STUCK_AFTER_MS = 600;
/** What a turning loop gets to answer an overrun by itself. */
const OVERRUN_GRACE_MS = 100;
/** Over the timeout: no call that a silent worker may hold can still be in time. */
const SILENCE_GRACE_MS = 1_000;

/**
 * Whether a worker must be ended now: its loop does not turn, so it cannot end an overrun by itself.
 *
 * @param deadlines of its calls in progress, in monotonic milliseconds
 */
export const isStuck = (state: {
  readonly now: number;
  readonly lastBeat: number;
  readonly deadlines: readonly number[];
  readonly timeoutMs: number;
}): boolean => {
  const silence = state.now - state.lastBeat;
  if (silence > state.timeoutMs + SILENCE_GRACE_MS) return true;
  return silence > STUCK_AFTER_MS && state.deadlines.some((deadline) => state.now > deadline + OVERRUN_GRACE_MS);
};

export interface WatchedLimits {
  readonly timeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly onLoadTimeout: (worker: WorkerProcess) => void;
}

/** Watches heartbeat, deadlines and memory of all workers. */
export class Watchdog {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly workers: ReadonlySet<WorkerProcess>,
    private readonly limits: WatchedLimits,
  ) {}

  start(): void {
    this.#timer = setTimeout(() => this.#look(), BUSY_INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    let isBusy = false;
    for (const worker of [...this.workers]) isBusy = this.#lookAt(worker) || isBusy;
    this.#timer = setTimeout(() => this.#look(), isBusy ? BUSY_INTERVAL_MS : IDLE_INTERVAL_MS);
  }

  /** Returns whether something goes on in the worker. */
  #lookAt(worker: WorkerProcess): boolean {
    worker.checkMemory();
    const now = monotonicMs();
    if (!worker.loaded) {
      if (now - worker.started > this.limits.loadTimeoutMs) this.limits.onLoadTimeout(worker);
      return true;
    }
    const calls = worker.table.calls();
    if (worker.retiringSince !== undefined) this.#endRetired(worker, worker.retiringSince, calls.length);
    const { beat: lastBeat } = worker.table.header();
    const deadlines = calls.map((call) => call.deadline);
    if (isStuck({ now, lastBeat, deadlines, timeoutMs: this.limits.timeoutMs })) worker.kill("stuck");
    return calls.length > 0;
  }

  #endRetired(worker: WorkerProcess, since: number, calls: number): void {
    const isLate = monotonicMs() - since > this.limits.timeoutMs + SILENCE_GRACE_MS;
    if (calls === 0 || isLate) worker.kill("retired");
  }
}
