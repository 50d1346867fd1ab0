import { createInterface } from "node:readline";
import { NODE_MARKER } from "./ledger.js";
import { findByEnvironment, processIdentity, signalGroup, signalProcess } from "./proc.js";

/**
 * Outlives the node by a moment: its standard input is a pipe from the node, so its end says that the node is gone,
 * however it went. Then every group that was announced and not taken back is killed.
 */
const groups = new Map<number, string>();

interface Announcement {
  add?: number;
  remove?: number;
}

const note = (line: string): void => {
  const { add, remove } = JSON.parse(line) as Announcement;
  if (remove !== undefined) groups.delete(remove);
  const identity = add === undefined ? undefined : processIdentity(add);
  if (add !== undefined && identity !== undefined) groups.set(add, identity);
};

const killAll = (marker: string): void => {
  for (const [pid, identity] of groups) {
    const current = processIdentity(pid);
    // A leader that has ended leaves its group to those it started; its pid is not given away while they live.
    if (current === undefined || current === identity) signalGroup(pid, "SIGKILL");
  }
  for (const pid of findByEnvironment(NODE_MARKER, marker)) signalProcess(pid, "SIGKILL");
};

// Ctrl-C reaches the whole terminal group: the node decides what ends, not this process.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("SIGHUP", () => undefined);
createInterface({ input: process.stdin })
  .on("line", note)
  .on("close", () => killAll(process.argv[2] ?? ""));
