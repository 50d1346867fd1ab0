import { measurePaired } from "@sless/testing";
import type { MeasuredServer } from "./measured-server.js";

export interface Comparison {
  readonly name: string;
  readonly against: string;
  readonly goal: number;
  readonly runs: number;
  /** Requests of one measurement, per side: enough for about half a second of CPU time. */
  readonly requests: { readonly ours: number; readonly theirs: number };
  readonly ours: () => Promise<MeasuredServer>;
  readonly theirs: () => Promise<MeasuredServer>;
}

/** Compares requests per CPU-second of two servers that run side by side, and prints the result as one JSON line. */
export const compare = async ({ name, against, goal, runs, requests, ...start }: Comparison): Promise<void> => {
  const servers: MeasuredServer[] = [];
  try {
    const ours = await start.ours();
    servers.push(ours);
    const theirs = await start.theirs();
    servers.push(theirs);
    const result = await measurePaired({
      name,
      against,
      goal,
      better: "higher",
      runs,
      warmup: 2,
      ours: () => ours.requestsPerCpuSecond(requests.ours),
      theirs: () => theirs.requestsPerCpuSecond(requests.theirs),
    });
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
};
