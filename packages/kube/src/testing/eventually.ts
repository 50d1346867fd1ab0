import { setTimeout as delay } from "node:timers/promises";

const DEFAULT_WITHIN_MS = 5_000;
const STEP_MS = 5;

/** Waits until the condition holds, looking often. Throws with the description when it does not hold in time. */
export const eventually = async (
  description: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<void> => {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${description}`);
    await delay(STEP_MS);
  }
};
