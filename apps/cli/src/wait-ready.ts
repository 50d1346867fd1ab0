import type { SlessClient } from "@sless/client";
import { isLastingReason, type FunctionBody } from "@sless/contracts";
import { UserError } from "./errors.js";
import { safeText } from "./output/safe-text.js";

/** One long poll; several of them make a wait that can show what goes on. */
const POLL_SEC = 5;

const readyCondition = (fn: FunctionBody) => fn.status.conditions.find(({ type }) => type === "Ready");

/** True when the status speaks of what was last written and says that it answers. */
export const isReady = (fn: FunctionBody, generation: number): boolean =>
  (fn.status.observed_generation ?? 0) >= generation && readyCondition(fn)?.status === "True";

/** True when waiting longer can't help: the reason is one that somebody has to mend. */
const isFailed = (fn: FunctionBody, generation: number): boolean => {
  const ready = readyCondition(fn);
  const isCurrent = (fn.status.observed_generation ?? 0) >= generation;
  return isCurrent && ready?.status === "False" && isLastingReason(ready.reason);
};

export interface ReadyWait {
  readonly name: string;
  readonly generation: number;
  readonly timeoutSec: number;
  readonly signal: AbortSignal;
  /** Receives what the function is at, whenever that may have changed. */
  readonly update: (detail: string) => void;
}

/**
 * Waits until a write is what answers.
 * @returns the function as it is then
 * @throws UserError with the platform's reason when it can't become so, or (exit code 5) when the time is over
 */
export const waitReady = async (client: SlessClient, wait: ReadyWait): Promise<FunctionBody> => {
  const deadline = performance.now() + wait.timeoutSec * 1000;
  for (;;) {
    const leftSec = Math.ceil((deadline - performance.now()) / 1000);
    const { value } = await client.functions.get(wait.name, {
      wait: "ready",
      generation: wait.generation,
      timeout: Math.max(1, Math.min(POLL_SEC, leftSec)),
      signal: wait.signal,
    });
    if (isReady(value, wait.generation)) return value;
    const why = safeText(readyCondition(value)?.message ?? value.status.message);
    if (isFailed(value, wait.generation))
      throw new UserError(`${wait.name} did not become ready: ${why}${stillServing(value)}`);
    if (performance.now() >= deadline) {
      throw new UserError(
        `${wait.name} was not ready within ${wait.timeoutSec} s; it may still become so. What it says: ${why}`,
        "timedOut",
      );
    }
    wait.update(why.split("\n", 1)[0] ?? "");
  }
};

const stillServing = ({ status }: FunctionBody): string => {
  const [target] = status.traffic;
  return target === undefined ? "" : `\nVersion ${target.version} still serves.`;
};
