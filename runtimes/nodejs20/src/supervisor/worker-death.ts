import type { CallRecord } from "./call-table.js";
import type { WorkerFault } from "./fault-response.js";

/** Why the supervisor ended a worker, when it did. */
export type KillReason = "stuck" | "memory" | "retired" | "stopping" | "not-loaded";

/** All that is known about a worker's end. */
export interface WorkerDeath {
  readonly code: number | null;
  readonly signal: string | null;
  readonly killedFor: KillReason | undefined;
  /** The function's code called `process.abort()`. */
  readonly aborted: boolean;
  /** Whether the call table holds all calls: the last of them may be missing after a crash (a kill comes later). */
  readonly tableComplete: boolean;
  /** Share of its memory limit that the worker had when it was last looked at. */
  readonly memoryShare: number;
  /** The kernel has counted an out-of-memory kill in this container. */
  readonly kernelOom: boolean;
  readonly memoryMb: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** V8 aborts before its old space is full to the limit given; with less memory than this an abort has other causes. */
const HEAP_FULL_SHARE = 0.5;

const isOutOfMemory = (death: WorkerDeath): boolean =>
  death.killedFor === "memory" ||
  (death.signal === "SIGKILL" && death.killedFor === undefined && death.kernelOom) ||
  (death.signal === "SIGABRT" && !death.aborted && death.memoryShare >= HEAP_FULL_SHARE);

export const describeEnd = ({ code, signal }: Pick<WorkerDeath, "code" | "signal">): string =>
  signal === null ? `with code ${String(code ?? 0)}` : `by signal ${signal}`;

/**
 * What the caller of a call is told that a worker held when it ended.
 *
 * @param call undefined for what is said about the worker itself
 */
export const faultOfDeath = (death: WorkerDeath, call?: Pick<CallRecord, "deadline" | "started">): WorkerFault => {
  if (isOutOfMemory(death)) {
    const message = `the function used more than its ${String(death.memoryMb)} MB of memory and was stopped`;
    return { fault: "out-of-memory", message };
  }
  if (death.killedFor === undefined) {
    return { fault: "exited", message: `the function's process ended ${describeEnd(death)} during the call` };
  }
  if (call !== undefined && call.deadline <= death.at) {
    const budget = Math.round(call.deadline - call.started);
    return { fault: "timeout", message: `the function did not finish within ${String(budget)} ms and did not react` };
  }
  const message =
    "the function's process was stopped during the call, because another call blocked it past its deadline";
  return { fault: "exited", message };
};
