import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessStat {
  parent: number;
  group: number;
  session: number;
  /** Clock ticks after boot: with the pid it names one process for ever. */
  startTime: string;
}

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Gone, or another user's: either way it is none of ours.
    return undefined;
  }
};

/** What `/proc/PID/stat` says (proc(5)); undefined when there is no such process or no `/proc`. */
export const readProcessStat = (pid: number): ProcessStat | undefined => {
  const text = read(`/proc/${pid}/stat`);
  if (!text) return undefined;
  // The second field is the command in parentheses and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent, group, session] = fields;
  return { parent: Number(parent), group: Number(group), session: Number(session), startTime: fields[19] ?? "" };
};

const bootId = read("/proc/sys/kernel/random/boot_id")?.trim();

const identityByPs = (pid: number): string | undefined => {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
};

/**
 * A text that no other process ever shares with this pid, so that a recorded pid that was given away again is told
 * apart: boot and start time on Linux, the start time of `ps` elsewhere. Undefined when the process is gone.
 */
export const processIdentity = (pid: number): string | undefined => {
  if (bootId === undefined) return identityByPs(pid);
  const stat = readProcessStat(pid);
  return stat && `${bootId}/${stat.startTime}`;
};

/** All process ids, by `/proc`; empty where there is none. */
export const listProcesses = (): number[] => {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** Processes whose environment, as it was at their start, holds the variable with just this value. */
export const findByEnvironment = (name: string, value: string): number[] => {
  const entry = `${name}=${value}`;
  return listProcesses().filter((pid) => read(`/proc/${pid}/environ`)?.split("\0").includes(entry));
};

/**
 * Bytes that a process alone accounts for: anonymous and shared memory, as a cgroup would charge them. The text of
 * the interpreter, which every process maps, is left out. 0 when it is gone.
 */
export const readOwnMemory = (pid: number): number => {
  const status = read(`/proc/${pid}/status`);
  if (!status) return 0;
  const kilobytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return (kilobytes("RssAnon") + kilobytes("RssShmem")) * 1024;
};

/** Sends a signal to a whole process group; false when none of it is left. */
export const signalGroup = (leader: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
};

/** Sends a signal to one process; false when it is gone. */
export const signalProcess = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};
