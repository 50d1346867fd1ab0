import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { endLeftovers, NODE_MARKER } from "./ledger.js";
import { createMemoryWatch } from "./memory-watch.js";
import { findByEnvironment, processIdentity } from "./proc.js";
import { createProcessSupervisor, type ProcessSupervisor } from "./supervisor.js";

let dataDir: string;
let marker: string;
let supervisor: ProcessSupervisor | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "node-"));
  marker = dataDir;
});
afterEach(async () => {
  await supervisor?.close();
  supervisor = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

const shell = (script: string) => ({
  command: "/bin/sh",
  args: ["-c", script],
  env: { PATH: "/usr/bin:/bin" },
  cwd: "/",
});
const until = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 8000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within 8 s: ${what}`);
    await delay(20);
  }
};
const firstLine = async (stream: NodeJS.ReadableStream): Promise<string> =>
  String((await once(stream, "data"))[0]).trim();

describe("a supervised process", () => {
  it("gets the given environment and nothing of ours", async () => {
    supervisor = createProcessSupervisor(dataDir, marker);
    const running = supervisor.spawn({ ...shell("env"), env: { PATH: "/usr/bin:/bin", ONLY: "this" } });
    const output = await firstLine(running.stdout);
    const names = output.split("\n").map((line) => line.split("=")[0]);
    expect(names.filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name ?? "")).sort()).toEqual(
      ["DEVCLUSTER_NODE", "ONLY", "PATH"].sort(),
    );
  });

  it.each([
    ["exit 3", { code: 3 }],
    ["kill -TERM $$", { code: 143, signal: "SIGTERM" }],
    ["kill -KILL $$", { code: 137, signal: "SIGKILL" }],
  ])("reports the end of `%s`", async (script, exit) => {
    supervisor = createProcessSupervisor(dataDir, marker);
    expect(await supervisor.spawn(shell(script)).exit).toEqual(exit);
  });

  it("says why it could not start", async () => {
    supervisor = createProcessSupervisor(dataDir, marker);
    const exit = await supervisor.spawn({ ...shell(""), command: "/no/such/file" }).exit;
    expect(exit).toMatchObject({ code: 128, startError: expect.stringContaining("/no/such/file") });
  });

  it("takes what it started along when it ends", async () => {
    supervisor = createProcessSupervisor(dataDir, marker);
    const running = supervisor.spawn(shell("sleep 600 & echo $!"));
    const child = Number(await firstLine(running.stdout));
    await running.exit;
    await until(() => processIdentity(child) === undefined, "the child is gone");
  });
});

describe("when the node is gone", () => {
  /** A node of its own process: starts one plain pod and one that leaves its group, then waits to be killed. */
  const startNode = async () => {
    const built = fileURLToPath(new URL("../../../dist/node/process/supervisor.js", import.meta.url));
    const script = `
      const { createProcessSupervisor } = await import(${JSON.stringify(built)});
      const supervisor = createProcessSupervisor(${JSON.stringify(dataDir)}, ${JSON.stringify(marker)});
      const pod = { command: "/bin/sh", env: { PATH: "/usr/bin:/bin" }, cwd: "/" };
      supervisor.spawn({ ...pod, args: ["-c", "trap '' TERM; sleep 600 & wait"] });
      supervisor.spawn({ ...pod, args: ["-c", "setsid sleep 601"] });
      console.log("started");
      setInterval(() => {}, 1000);`;
    const node = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(node.stdout, "data");
    await until(() => findByEnvironment(NODE_MARKER, marker).length >= 3, "the pods run");
    return node;
  };

  it("kill -9 of the node ends every process of its pods within seconds, those outside its group too", async () => {
    const node = await startNode();
    node.kill("SIGKILL");
    await until(() => findByEnvironment(NODE_MARKER, marker).length === 0, "no process of the node is left");
  });

  it("a start after both node and watcher were killed ends what is left", async () => {
    const node = await startNode();
    const watchers = await childrenOf(node.pid ?? 0);
    for (const pid of watchers.filter((pid) => !findByEnvironment(NODE_MARKER, marker).includes(pid))) {
      process.kill(pid, "SIGSTOP");
    }
    node.kill("SIGKILL");
    await once(node, "exit");
    expect(findByEnvironment(NODE_MARKER, marker).length).toBeGreaterThan(0);
    supervisor = createProcessSupervisor(dataDir, marker);
    await until(() => findByEnvironment(NODE_MARKER, marker).length === 0, "the next start ends them");
    for (const pid of watchers) if (processIdentity(pid)) process.kill(pid, "SIGKILL");
  });

  it("never ends a process that only has the recorded pid", () => {
    const stranger = spawn("/bin/sleep", ["600"], { detached: true, stdio: "ignore" });
    mkdirSync(join(dataDir, "processes"), { recursive: true });
    writeFileSync(join(dataDir, "processes", String(stranger.pid)), JSON.stringify({ identity: "another/1" }));
    expect(endLeftovers(join(dataDir, "processes"), marker)).toBe(0);
    expect(processIdentity(stranger.pid ?? 0)).toBeDefined();
    stranger.kill("SIGKILL");
  });

  const childrenOf = async (pid: number): Promise<number[]> =>
    (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").filter(Boolean).map(Number);
});

describe("memory", () => {
  it("R37: tells when a tree of processes outgrows its limit", async () => {
    supervisor = createProcessSupervisor(dataDir, marker);
    const hog = "const held = Buffer.alloc(120e6, 1); setInterval(() => held.length, 1000)";
    const running = supervisor.spawn(shell(`"${process.execPath}" -e "${hog}" & wait`));
    const watch = createMemoryWatch();
    const bytes = await new Promise<number>((resolve) => watch.watch(running.pid ?? 0, 100e6, resolve));
    expect(bytes).toBeGreaterThan(100e6);
    running.killGroup();
    expect(await running.exit).toMatchObject({ code: 137 });
  });
});
