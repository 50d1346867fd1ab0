import { currentCall } from "./current-call.js";
import type { CallRunner } from "./call-runner.js";

/**
 * Exceptions and rejections that nobody awaits. The state of the process is unknown after one, so its call fails with
 * it and the worker is replaced, unless the function has its own listener, which then decides.
 *
 * @param retire asks for the replacement
 */
export const watchLateErrors = (runner: CallRunner, retire: (reason: string, requestId: string) => void): void => {
  const onLate = (event: "uncaughtException" | "unhandledRejection") => (error: unknown) => {
    if (process.listenerCount(event) > 1) return;
    const call = currentCall.getStore();
    // eslint-disable-next-line no-console -- the function's author reads it in the function's log
    console.error(event === "uncaughtException" ? "Uncaught exception:" : "Unhandled rejection:", error);
    if (call !== undefined && runner.calls.has(call)) runner.onThrown(call, error);
    retire(`${event}: ${error instanceof Error ? error.message : String(error)}`, call?.requestId ?? "");
  };
  process.on("uncaughtException", onLate("uncaughtException"));
  process.on("unhandledRejection", onLate("unhandledRejection"));
};
