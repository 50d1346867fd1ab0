import { readFileSync } from "node:fs";

const KIB = 1024;

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
};

const PAGE_BYTES = 4 * KIB;

/**
 * Bytes of memory that a process has for itself: resident less file-backed, whose pages are the kernel's to drop
 * (proc_pid_statm(5); a tenth of the cost of `status`). Undefined where there is no /proc, or no such process any more.
 */
export const privateMemory = (pid: number): number | undefined => {
  const statm = readText(`/proc/${String(pid)}/statm`);
  const [, resident, fileBacked] = (statm ?? "").split(" ").map(Number);
  return resident === undefined || fileBacked === undefined ? undefined : (resident - fileBacked) * PAGE_BYTES;
};

/** How often the kernel has killed a process of this container for lack of memory; 0 where it does not say. */
export const kernelOomKills = (): number => {
  const events = readText("/sys/fs/cgroup/memory.events") ?? readText("/sys/fs/cgroup/memory/memory.oom_control");
  return Number(/^oom_kill (\d+)/m.exec(events ?? "")?.[1] ?? 0);
};

/**
 * Bytes that the worker may take: the function's memory, or what the container's limit leaves beside the supervisor,
 * so that the worker is ended by us, with a reason, before the kernel ends the whole container without one.
 */
export const workerMemoryLimit = (memoryMb: number, supervisorBytes: number): number => {
  const own = memoryMb * KIB * KIB;
  const container = Number(readText("/sys/fs/cgroup/memory.max") ?? NaN);
  if (!Number.isFinite(container)) return own;
  return Math.min(own, Math.max(container * 0.5, container * 0.97 - supervisorBytes));
};
