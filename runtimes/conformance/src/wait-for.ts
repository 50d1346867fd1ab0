const INTERVAL_MS = 10;
const TIMEOUT_MS = 10_000;

/**
 * Polls until a condition gives something other than undefined or false.
 *
 * @throws Error naming what did not come within 10 s
 */
export const waitFor = async <T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  describe: () => string = () => "",
): Promise<T> => {
  const giveUpAt = Date.now() + TIMEOUT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > giveUpAt) throw new Error(`${what} did not come within ${String(TIMEOUT_MS)} ms ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
};
