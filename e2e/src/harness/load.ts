import { Agent } from "node:http";
import { call } from "./http.js";

export interface LoadReport {
  /** Every answered call in the order of its start. */
  readonly answers: readonly { readonly startedAt: number; readonly status: number; readonly text: string }[];
  /** Each call that broke, or was not answered 200. */
  readonly failures: readonly string[];
}

export interface Load {
  /** Ends it once the calls in flight have ended. */
  stop(): Promise<LoadReport>;
  /** Calls ended so far. */
  count(): number;
}

const PAUSE_MS = 10;
/** A forgotten load ends by itself. */
const LONGEST_MS = 60_000;

/**
 * Calls a URL over and over from several clients with kept-alive connections, and records what came of each call.
 * @param clients calls at a time
 */
export const startLoad = (url: string, clients: number): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const answers: { startedAt: number; status: number; text: string }[] = [];
  const failures: string[] = [];
  const end = performance.now() + LONGEST_MS;
  let stopped = false;

  const callOnce = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      const { status, text } = await call(url, { agent });
      answers.push({ startedAt, status, text });
      if (status !== 200) failures.push(`${status}: ${text.slice(0, 300)}`);
    } catch (error) {
      failures.push(String(error));
    }
  };
  const client = async (): Promise<void> => {
    while (!stopped && performance.now() < end) {
      await callOnce();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));

  return {
    count: () => answers.length + failures.length,
    async stop() {
      stopped = true;
      await all;
      agent.destroy();
      return { answers: answers.toSorted((a, b) => a.startedAt - b.startedAt), failures };
    },
  };
};
