import type { LogLine } from "@sless/contracts";
import { byTime } from "./pod-log.js";

export interface MergeWindow {
  /** Takes a line; resolves when there is room for more, so that a fast pod waits for a slow client. */
  push(line: LogLine): Promise<void>;
  /** What came since the last take, in order of time. Empty when nothing comes within `idleMs`. */
  take(idleMs: number): Promise<LogLine[]>;
}

const MAX_HELD = 5_000;

/** Brings lines of several pods, each already in order, into one order: within a window, since none is ever complete. */
export const createMergeWindow = (windowMs: number, signal: AbortSignal): MergeWindow => {
  let held: LogLine[] = [];
  const room = createGate();
  const arrival = createGate();

  signal.addEventListener("abort", () => [room, arrival].forEach((gate) => gate.open()), { once: true });
  return {
    push: async (line) => {
      while (held.length >= MAX_HELD && !signal.aborted) await room.wait();
      held.push(line);
      arrival.open();
    },
    take: async (idleMs) => {
      if (held.length === 0 && !signal.aborted) await arrival.wait(idleMs);
      if (held.length > 0 && !signal.aborted) await pause(windowMs, signal);
      const lines = held.sort(byTime);
      held = [];
      room.open();
      return lines;
    },
  };
};

/** Lets all who wait go on when it opens; who comes later waits for the next time. */
const createGate = () => {
  let waiting: (() => void)[] = [];
  return {
    open: (): void => {
      const those = waiting;
      waiting = [];
      for (const go of those) go();
    },
    wait: (timeoutMs?: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
