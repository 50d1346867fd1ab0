import { spawn } from "node:child_process";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { mkdirSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { call } from "../src/harness/http.js";

const RETRY_MS = 1;
const LONGEST_MS = 20_000;

/** Two ports, both held while they are chosen: one that was let go could be given twice. */
const freePorts = async (): Promise<[number, number]> => {
  const servers = [createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    await once(server.listen(0, "127.0.0.1"), "listening");
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return [ports[0] ?? 0, ports[1] ?? 0];
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

/** Answers once the worker has loaded; while it loads, the runtime refuses or nothing listens. */
const untilAnswered = async (port: number, text: string): Promise<void> => {
  const deadline = performance.now() + LONGEST_MS;
  while (performance.now() < deadline) {
    if (await accepts(port)) {
      const answer = await call(`http://127.0.0.1:${port}/`, { headers: { "x-sless-request-id": randomUUID() } }).catch(
        () => undefined,
      );
      if (answer?.status === 200 && answer.text === text) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  throw new Error(`the bare runtime did not answer within ${LONGEST_MS} ms`);
};

/**
 * Starts the Node.js runtime by hand with a handler's files, as a pod would, and waits for its first answer.
 * @param folder of its own, for code and termination message
 * @returns milliseconds from the spawn to the answer
 */
export const startBare = async (
  runtime: string,
  folder: string,
  { code, text }: { readonly code: string; readonly text: string },
): Promise<number> => {
  mkdirSync(folder);
  writeFileSync(join(folder, "index.mjs"), code);
  const [port, controlPort] = await freePorts();
  const env = {
    PATH: process.env["PATH"],
    SLESS_HOST: "127.0.0.1",
    SLESS_PORT: String(port),
    SLESS_CONTROL_PORT: String(controlPort),
    SLESS_CODE_DIR: folder,
    SLESS_ENTRYPOINT: "index.handler",
    SLESS_TIMEOUT_SEC: "30",
    SLESS_MEMORY_MB: "128",
    SLESS_CONCURRENCY: "1",
    SLESS_FUNCTION: "bare",
    SLESS_VERSION: "1",
    SLESS_VERSION_UID: randomUUID(),
    SLESS_NAMESPACE: "bench",
    SLESS_TERMINATION_LOG: join(folder, "termination-log"),
  };
  const started = performance.now();
  const child = spawn(process.execPath, [join(runtime, "supervisor.js")], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  try {
    await Promise.race([
      untilAnswered(port, text),
      exited.then(([code]) => Promise.reject(new Error(`the bare runtime ended with code ${String(code)}`))),
    ]);
    return performance.now() - started;
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
};
