import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface RunningRegistry {
  url: string;
  host: string;
  stop(): Promise<void>;
}

const START_MS = 10_000;

/** Starts Debian's docker-registry (distribution 2.8) on a free loopback port, its data below `folder`. */
export async function startDockerRegistry(folder: string): Promise<RunningRegistry> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "config.yml");
  const storage = `{ filesystem: { rootdirectory: ${join(folder, "data")} }, cache: { blobdescriptor: inmemory } }`;
  writeFileSync(
    config,
    `version: 0.1\nlog: { level: error, accesslog: { disabled: true } }\nstorage: ${storage}\nhttp: { addr: "${host}" }\n`,
  );
  const server = spawn("docker-registry", ["serve", config], { stdio: "ignore" });
  const url = `http://${host}`;
  const stop = async (): Promise<void> => {
    server.kill("SIGKILL");
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  };
  for (const deadline = Date.now() + START_MS; ; await pause(50)) {
    if (await answers(`${url}/v2/`)) return { url, host, stop };
    if (server.exitCode === null && Date.now() < deadline) continue;
    await stop();
    throw new Error(`docker-registry did not start (exit code ${server.exitCode})`);
  }
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
