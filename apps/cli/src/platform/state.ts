import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const Ports = z.object({ api: z.int(), gateway: z.int() });
export type Ports = z.infer<typeof Ports>;

const Running = z.object({ pid: z.int(), endpoint: z.string(), startedAt: z.string() });
export type Running = z.infer<typeof Running>;

const read = <T>(file: string, schema: z.ZodType<T>): T | undefined => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Absent, or half written by a process that was killed: both mean that nothing is known.
    return undefined;
  }
};

const write = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value), { mode: 0o600 });

/** What `sless up` keeps in its data folder beside the cluster's own data. */
export interface PlatformState {
  readonly logDir: string;
  /** Holds the bearer token of the local login; rewritten before it expires. */
  readonly tokenFile: string;
  ports(): Ports | undefined;
  keepPorts(ports: Ports): void;
  /** What the running platform said of itself. It may have been killed: ask for its process. */
  running(): Running | undefined;
  setRunning(running: Running | undefined): void;
}

/** @param dataDir is made with mode 0700 when it is absent */
export const openPlatformState = (dataDir: string): PlatformState => {
  const logDir = join(dataDir, "log");
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const portsFile = join(dataDir, "ports.json");
  const runningFile = join(dataDir, "running.json");
  return {
    logDir,
    tokenFile: join(dataDir, "token"),
    ports: () => read(portsFile, Ports),
    keepPorts: (ports) => write(portsFile, ports),
    running: () => read(runningFile, Running),
    setRunning: (running) =>
      running === undefined ? rmSync(runningFile, { force: true }) : write(runningFile, running),
  };
};
