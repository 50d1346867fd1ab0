import { listProcesses, readOwnMemory, readProcessStat } from "./proc.js";

/**
 * Kills process trees that outgrow their limit. Approximate: memory is looked at a few times a second, so a process
 * may pass its limit between two looks, where a cgroup would refuse the very page.
 */
export interface MemoryWatch {
  /** @returns ends the watching */
  watch(leader: number, limitBytes: number, onExceeded: (bytes: number) => void): () => void;
}

interface Watched {
  limitBytes: number;
  members: number[];
  /** Whether it was above the limit at the last look. */
  isAbove: boolean;
  onExceeded: (bytes: number) => void;
}

const READ_MS = 200;
/**
 * A tree is ended when two looks in a row find it above its limit, or one finds it this many times above. A kernel would
 * kill the one process that grows; here a supervisor gets the time to do so itself and to say why.
 */
const AT_ONCE_FACTOR = 4;
/** Members are sought less often than memory is read: it takes a look at every process of the machine. */
const READS_PER_SCAN = 5;

/** Every process below a leader: those of its session, and by parents those that opened one of their own. */
const findMembers = (leaders: ReadonlySet<number>): Map<number, number[]> => {
  const stats = new Map(listProcesses().map((pid) => [pid, readProcessStat(pid)] as const));
  const leaderOf = (pid: number, hops = 0): number | undefined => {
    if (leaders.has(pid)) return pid;
    const stat = stats.get(pid);
    if (!stat || hops > 64) return undefined;
    return leaders.has(stat.session) ? stat.session : leaderOf(stat.parent, hops + 1);
  };
  const members = new Map<number, number[]>([...leaders].map((leader) => [leader, []]));
  for (const pid of stats.keys()) members.get(leaderOf(pid) ?? -1)?.push(pid);
  return members;
};

export const createMemoryWatch = (): MemoryWatch => {
  const watched = new Map<number, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let reads = 0;

  const look = (): void => {
    const members = reads++ % READS_PER_SCAN === 0 ? findMembers(new Set(watched.keys())) : undefined;
    for (const [leader, entry] of watched) {
      if (members) entry.members = members.get(leader) ?? [leader];
      const bytes = entry.members.reduce((sum, pid) => sum + readOwnMemory(pid), 0);
      const wasAbove = entry.isAbove;
      entry.isAbove = bytes > entry.limitBytes;
      if (!entry.isAbove || (!wasAbove && bytes < entry.limitBytes * AT_ONCE_FACTOR)) continue;
      watched.delete(leader);
      entry.onExceeded(bytes);
    }
  };
  const stopWhenIdle = (): void => {
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch(leader, limitBytes, onExceeded) {
      watched.set(leader, { limitBytes, members: [leader], isAbove: false, onExceeded });
      timer ??= setInterval(look, READ_MS).unref();
      return () => {
        watched.delete(leader);
        stopWhenIdle();
      };
    },
  };
};
