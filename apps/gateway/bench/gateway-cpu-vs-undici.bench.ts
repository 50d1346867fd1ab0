import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { measurePaired } from "@sless/testing";
import { build } from "esbuild";
import { Pool } from "undici";
import { HOST } from "./route.js";

/**
 * CPU of the gateway per call, against a bare proxy over `undici.dispatch`, each in a process of its own before the same
 * pod. CPU time rather than calls per second, and many short pairs rather than few long ones: others use this machine too.
 */
const CALLS = 1_000;
const CONNECTIONS = 16;
const RUNS = 40;

/** As a browser or SDK sends it; half of the calls carry a body. */
const HEADERS = {
  host: HOST,
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36",
  accept: "application/json, text/plain, */*",
  "accept-encoding": "gzip, deflate, br",
  "accept-language": "en-US,en;q=0.9",
  authorization: "Bearer abcdefghijklmnopqrstuvwxyz",
  "x-request-id": "5b0c6f0e-6f0b-4c57-9c8e-0a1d6d1f2e3f",
};
const BODY = JSON.stringify({ name: "world", padding: "x".repeat(200) });

interface Measured {
  readonly pool: Pool;
  readonly cpuMicros: () => Promise<number>;
}

const receive = async <T>(child: ChildProcess): Promise<T> => ((await once(child, "message")) as [T])[0];

/** The programs are built as a release is: loaders that compile at run time make closures dearer than they are. */
const PROGRAMS = ["pod", "gateway-process", "undici-proxy"] as const;
type Program = (typeof PROGRAMS)[number];

const here = fileURLToPath(new URL(".", import.meta.url));
const built = fileURLToPath(new URL("../dist/bench/", import.meta.url));

const buildPrograms = async (): Promise<void> => {
  await build({
    entryPoints: PROGRAMS.map((program) => `${here}${program}.ts`),
    ...{ outdir: built, bundle: true, packages: "external", format: "esm", platform: "node", target: "node20" },
  });
};

const children: ChildProcess[] = [];

const start = async (program: Program, ...args: string[]): Promise<{ child: ChildProcess; port: number }> => {
  const child = fork(`${built}${program}.js`, args, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.push(child);
  return { child, port: (await receive<{ port: number }>(child)).port };
};

const measure = async (program: Program, podPort: number): Promise<Measured> => {
  const { child, port } = await start(program, String(podPort));
  return {
    pool: new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS }),
    cpuMicros: async () => {
      child.send("cpu");
      return (await receive<{ cpuMicros: number }>(child)).cpuMicros;
    },
  };
};

const callOnce = async (pool: Pool, turn: number): Promise<void> => {
  const post = turn % 2 === 0;
  const { statusCode, body } = await pool.request({
    path: `/items/${turn}?q=1`,
    method: post ? "POST" : "GET",
    headers: post ? { ...HEADERS, "content-type": "application/json" } : HEADERS,
    body: post ? BODY : null,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a call was answered ${statusCode}`);
};

/** Microseconds of CPU that one call takes. */
const cpuPerCall = async ({ pool, cpuMicros }: Measured): Promise<number> => {
  const before = await cpuMicros();
  let turn = 0;
  const client = async (): Promise<void> => {
    while (turn < CALLS) await callOnce(pool, turn++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return ((await cpuMicros()) - before) / CALLS;
};

await buildPrograms();
const pod = await start("pod");
const gateway = await measure("gateway-process", pod.port);
const baseline = await measure("undici-proxy", pod.port);
const result = await measurePaired({
  name: "gateway-cpu-vs-undici",
  against: "CPU per call of a bare undici.dispatch proxy",
  goal: 1.35,
  better: "lower",
  runs: RUNS,
  warmup: 8,
  ours: () => cpuPerCall(gateway),
  theirs: () => cpuPerCall(baseline),
});
process.stdout.write(`${JSON.stringify(result)}\n`);
await Promise.all([gateway.pool.close(), baseline.pool.close()]);
for (const child of children) child.disconnect();
