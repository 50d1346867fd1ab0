import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";

const PORT = 8080;
const CONNECTIONS = 8;
const START_TIMEOUT_MS = 10_000;
const LOAD = join(import.meta.dirname, "load.mjs");

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number);

const processTree = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(processTree)];

/** Nanoseconds on a CPU of all threads of a process and of its descendants. */
const cpuTime = (pid: number): number => {
  const threads = processTree(pid).flatMap((member) => {
    const tasks = `/proc/${String(member)}/task`;
    return readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, "utf8"));
  });
  return threads.reduce((sum, schedstat) => sum + Number(schedstat.split(" ")[0]), 0);
};

const answers = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: PORT }, () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

/** A server under measurement, with all processes that belong to it. */
export class MeasuredServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly host: string,
  ) {}

  /**
   * Starts a server on an address of its own, port 8080.
   *
   * @param parameters what Node.js is started with
   * @param env made from the server's host
   */
  static async start(
    parameters: readonly string[],
    env: (host: string) => Record<string, string>,
  ): Promise<MeasuredServer> {
    const host = `127.${String(randomInt(1, 255))}.${String(randomInt(256))}.${String(randomInt(1, 255))}`;
    const child = spawn(process.execPath, parameters, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { PATH: process.env.PATH ?? "", HOST: host, PORT: String(PORT), NODE_ENV: "production", ...env(host) },
    });
    const giveUpAt = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(host))) {
      if (Date.now() > giveUpAt) throw new Error(`${parameters.join(" ")} did not answer`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return new MeasuredServer(child, host);
  }

  /** Sends requests and returns how many of them the server answers per second of its CPU time. */
  async requestsPerCpuSecond(requests: number): Promise<number> {
    const pid = this.child.pid ?? 0;
    const before = cpuTime(pid);
    const load = spawn(process.execPath, [LOAD, this.host, String(PORT), String(CONNECTIONS), String(requests)], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = (await once(load, "exit")) as [number];
    if (code !== 0) throw new Error("the load generator lost an answer");
    return requests / ((cpuTime(pid) - before) / 1e9);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await ended;
  }
}
