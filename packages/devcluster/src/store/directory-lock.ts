import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Holder {
  pid: number;
  /** Tells a process from a later one that got its number. */
  startedAt: string;
}

/** Field 22 of /proc/<pid>/stat (start time in clock ticks); empty where there is no /proc. */
const startTimeOf = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
};

const isAlive = (holder: Holder): boolean => {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return startTimeOf(holder.pid) === holder.startedAt;
};

const readHolder = (path: string): Holder | undefined => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return undefined;
  }
};

/** Creates the lock whole or not at all: a link never shows a half-written file. */
const tryCreate = (path: string, holder: Holder): boolean => {
  const own = `${path}.${holder.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
};

/** Moves a dead holder's lock aside; should another opener have replaced it meanwhile, that one's is put back. */
const removeStale = (path: string, stale: Holder): void => {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved && (moved.pid !== stale.pid || moved.startedAt !== stale.startedAt)) {
    try {
      linkSync(aside, path);
    } catch {
      // A third opener holds it by now: this process loses either way.
    }
  }
  rmSync(aside, { force: true });
};

const MAX_ATTEMPTS = 5;

/**
 * Lets one process at a time use a folder. The lock of a process that no longer lives does not count.
 * @returns gives the lock up
 * @throws when another living process holds it
 */
export const lockDirectory = (directory: string): (() => void) => {
  const path = join(directory, "lock");
  const self: Holder = { pid: process.pid, startedAt: startTimeOf(process.pid) };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (tryCreate(path, self)) return () => rmSync(path, { force: true });
    const holder = readHolder(path);
    if (holder && isAlive(holder))
      throw new Error(`${directory} is in use by process ${holder.pid}: stop that one first, or use another folder.`);
    removeStale(path, holder ?? { pid: 0, startedAt: "" });
  }
  throw new Error(`${directory}: the lock could not be taken, other processes are starting at the same time.`);
};
