import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findByEnvironment, processIdentity, signalGroup, signalProcess } from "./proc.js";

/** Marks every process of this node in its environment, which its children inherit even when they leave the group. */
export const NODE_MARKER = "DEVCLUSTER_NODE";

/** Which process groups run, on disk: the next start ends what a killed node could not. */
export interface ProcessLedger {
  add(pid: number): void;
  remove(pid: number): void;
}

interface Entry {
  identity: string;
}

const readIdentity = (file: string): string | undefined => {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as Entry).identity;
  } catch {
    // Half written by a process that was killed while it wrote: the environment finds that one.
    return undefined;
  }
};

/**
 * Ends what the previous run has left: recorded groups whose leader is still the very process that was recorded, and
 * whatever carries the node's marker in its environment.
 * @returns the number of groups and processes that were signalled
 */
export const endLeftovers = (folder: string, marker: string): number => {
  mkdirSync(folder, { recursive: true });
  let ended = 0;
  for (const name of readdirSync(folder)) {
    const identity = readIdentity(join(folder, name));
    const pid = Number(name);
    if (identity !== undefined && identity === processIdentity(pid) && signalGroup(pid, "SIGKILL")) ended += 1;
    rmSync(join(folder, name), { force: true });
  }
  for (const pid of findByEnvironment(NODE_MARKER, marker)) if (signalProcess(pid, "SIGKILL")) ended += 1;
  return ended;
};

/** @param folder one small file per running group, named by the leader's pid */
export const createLedger = (folder: string): ProcessLedger => {
  mkdirSync(folder, { recursive: true });
  return {
    add(pid) {
      const identity = processIdentity(pid);
      if (identity !== undefined) writeFileSync(join(folder, String(pid)), JSON.stringify({ identity }));
    },
    remove(pid) {
      rmSync(join(folder, String(pid)), { force: true });
    },
  };
};
