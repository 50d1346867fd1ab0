import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createLedger, endLeftovers, NODE_MARKER } from "./ledger.js";
import { signalGroup, signalProcess } from "./proc.js";
import { startReaper } from "./reaper.js";

export interface ProcessSpec {
  command: string;
  args: string[];
  /** The whole environment: nothing of this process's own is inherited. */
  env: Record<string, string>;
  cwd: string;
}

export interface ProcessExit {
  /** As a container runtime reports it: 128 + signal number for a killed process, 128 when it could not start. */
  code: number;
  signal?: NodeJS.Signals;
  /** Why it could not be started at all. */
  startError?: string;
}

export interface RunningProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the leader has ended; the rest of its group is then killed. Never rejects. */
  readonly exit: Promise<ProcessExit>;
  signal(signal: NodeJS.Signals): void;
  killGroup(): void;
}

/** Starts processes in groups of their own and sees to it that none outlives the node. */
export interface ProcessSupervisor {
  spawn(spec: ProcessSpec): RunningProcess;
  /** Ends the watcher and with it every process that is left. */
  close(): Promise<void>;
}

const SIGNAL_NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

const toExit = (code: number | null, signal: NodeJS.Signals | null): ProcessExit =>
  signal === null ? { code: code ?? 0 } : { code: 128 + (SIGNAL_NUMBERS[signal] ?? 0), signal };

/**
 * @param dataDir holds the record of running groups
 * @param marker names the node; what carries it from an earlier run is ended first
 */
export const createProcessSupervisor = (dataDir: string, marker: string): ProcessSupervisor => {
  const folder = join(dataDir, "processes");
  endLeftovers(folder, marker);
  const ledger = createLedger(folder);
  const reaper = startReaper(marker);

  const forget = (pid: number): void => {
    // A container ends with its first process; what that one has started goes too.
    signalGroup(pid, "SIGKILL");
    ledger.remove(pid);
    reaper.remove(pid);
  };

  return {
    spawn({ command, args, env, cwd }) {
      const child = spawn(command, args, {
        cwd,
        env: { ...env, [NODE_MARKER]: marker },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { pid } = child;
      if (pid !== undefined) {
        ledger.add(pid);
        reaper.add(pid);
      }
      const exit = new Promise<ProcessExit>((resolve) => {
        child.once("error", (error) => resolve({ code: 128, startError: error.message }));
        child.once("exit", (code, signal) => {
          if (pid !== undefined) forget(pid);
          resolve(toExit(code, signal));
        });
      });
      return {
        pid,
        stdout: child.stdout,
        stderr: child.stderr,
        exit,
        signal: (signal) => pid !== undefined && signalProcess(pid, signal),
        killGroup: () => pid !== undefined && signalGroup(pid, "SIGKILL"),
      };
    },
    close: () => reaper.close(),
  };
};
