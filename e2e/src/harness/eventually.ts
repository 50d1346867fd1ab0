const POLL_MS = 20;

/** A condition that has not come true; its message says what was seen last. */
class NotYet extends Error {
  override readonly name = "NotYet";
}

/**
 * Polls until `attempt` passes: throws no longer and returns neither `false` nor `undefined`.
 * @param what completes the sentence "… did not happen within …"
 * @param withinMs deadline, in milliseconds
 * @returns what the passing attempt returned
 * @throws Error with the last reason when the deadline passes
 */
export const eventually = async <T>(
  what: string,
  withinMs: number,
  attempt: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined>> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const outcome = await tryOnce(attempt);
    if (!(outcome instanceof NotYet)) return outcome;
    if (performance.now() > deadline) {
      throw new Error(`${what}: did not happen within ${withinMs} ms. ${outcome.message}`, { cause: outcome.cause });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const tryOnce = async <T>(attempt: () => T | Promise<T>): Promise<Exclude<T, false | undefined> | NotYet> => {
  try {
    const value = await attempt();
    if (value === false || value === undefined) return new NotYet(`The last look saw ${String(value)}.`);
    return value as Exclude<T, false | undefined>;
  } catch (error) {
    return new NotYet(`The last look failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};
