import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import type { AddressInfo } from "node:net";

const HOST = "127.0.0.1";
const CONNECTIONS = 8;
const PROBE_TIMEOUT_MS = 500;
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

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port }, () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => settle(false));
    socket
      .once("data", () => settle(true))
      .once("error", () => settle(false))
      .once("close", () => settle(false));
  });

/** A server under measurement, with all processes that belong to it. */
export class MeasuredServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {
    // However the benchmark ends, its servers end with it.
    process.once("exit", () => child.kill("SIGKILL"));
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param command program and parameters
   * @param env made from the server's port and a second free one
   */
  static async start(
    [program, ...parameters]: readonly [string, ...string[]],
    env: (port: number, secondPort: number) => Record<string, string>,
  ): Promise<MeasuredServer> {
    const [port, secondPort] = await Promise.all([freePort(), freePort()]);
    const child = spawn(program, parameters, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { PATH: process.env.PATH ?? "", HOST, PORT: String(port), NODE_ENV: "production", ...env(port, secondPort) },
    });
    const server = new MeasuredServer(child, port);
    const giveUpAt = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(port))) {
      if (Date.now() > giveUpAt || child.exitCode !== null)
        throw new Error(`${[program, ...parameters].join(" ")} does not answer`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return server;
  }

  /** Sends requests and returns how many of them the server answers per second of its CPU time. */
  async requestsPerCpuSecond(requests: number): Promise<number> {
    const pid = this.child.pid ?? 0;
    const before = cpuTime(pid);
    const load = spawn(process.execPath, [LOAD, HOST, String(this.port), String(CONNECTIONS), String(requests)], {
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

/** The environment of a runtime that is measured with the function `hello.handler` of a folder. */
export const runtimeEnvironment = (codeDir: string, port: number, controlPort: number): Record<string, string> => ({
  SLESS_HOST: HOST,
  SLESS_PORT: String(port),
  SLESS_CONTROL_PORT: String(controlPort),
  SLESS_ENTRYPOINT: "hello.handler",
  SLESS_CODE_DIR: codeDir,
  SLESS_CONCURRENCY: "100",
  SLESS_VERSION_UID: "bench",
  SLESS_TERMINATION_LOG: "/dev/null",
});
