import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A small process that kills the announced process groups when this one dies, even by SIGKILL. */
export interface Reaper {
  readonly pid: number | undefined;
  add(pid: number): void;
  remove(pid: number): void;
  /** Ends it; whatever is still announced or marked is killed. */
  close(): Promise<void>;
}

/** Child processes cannot load TypeScript: from source, the built file beside it is taken. */
const entryFile = (): string => {
  const here = fileURLToPath(new URL("./reaper-main.js", import.meta.url));
  const built = here.replace(/\/src\/node\/process\/reaper-main\.js$/, "/dist/node/process/reaper-main.js");
  if (existsSync(built)) return built;
  throw new Error(`${built} is missing: build it with \`pnpm --filter @sless/devcluster build\``);
};

/** @param marker value of the environment variable that every process of the node carries */
export const startReaper = (marker: string): Reaper => {
  const groups = new Set<number>();
  const entry = entryFile();
  let closing = false;
  let child: ChildProcess;

  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify(message)}\n`);
  };
  const start = (): void => {
    child = spawn(process.execPath, [entry, marker], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    // A reaper that was killed breaks the pipe; its successor learns the groups anew.
    child.stdin?.on("error", () => undefined);
    child.once("exit", () => {
      if (!closing) start();
    });
    for (const pid of groups) send({ add: pid });
  };
  start();

  return {
    get pid() {
      return child.pid;
    },
    add(pid) {
      groups.add(pid);
      send({ add: pid });
    },
    remove(pid) {
      groups.delete(pid);
      send({ remove: pid });
    },
    async close() {
      closing = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.stdin?.end();
      await exited;
    },
  };
};
