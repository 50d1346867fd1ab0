import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";
import type { ComponentName, TestPlatform } from "./platform.js";

const READY_TIMEOUT_MS = 30_000;

/** A second instance of a component beside the platform's own. */
export interface Replica {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  log(): string;
  /** Ends it in order. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const LISTENERS: Readonly<Record<ComponentName, readonly string[]>> = {
  api: ["SLESS_LISTEN", "SLESS_HEALTH_LISTEN"],
  controller: ["SLESS_HEALTH_LISTEN"],
  gateway: ["SLESS_PUBLIC_LISTEN", "SLESS_INTERNAL_LISTEN", "SLESS_HEALTH_LISTEN"],
};

/**
 * Starts a replica with the settings of the platform's own instance, on ports of its own, and waits until it is ready.
 * @param overrides settings in which it differs
 */
export const startReplica = async (
  platform: TestPlatform,
  component: ComponentName,
  overrides: Readonly<Record<string, string>> = {},
): Promise<Replica> => {
  const name = `replica-${component}`;
  const ports = await Promise.all(LISTENERS[component].map(async (key) => [key, `127.0.0.1:${await freePort()}`]));
  const env: Readonly<Record<string, string>> = {
    ...platform.envOf(component),
    SLESS_POD_NAME: name,
    ...(Object.fromEntries(ports) as Record<string, string>),
    ...overrides,
  };
  const main = fileURLToPath(new URL(`../../../apps/${component}/dist/main.js`, import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  await eventually(`${name} is ready`, READY_TIMEOUT_MS, async () => {
    if (child.exitCode !== null) throw new Error(log);
    return (await fetch(`http://${env["SLESS_HEALTH_LISTEN"]}/readyz`)).ok;
  });
  return { name, env, log: () => log, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
};
