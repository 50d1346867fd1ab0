import { setTimeout as delay } from "node:timers/promises";
import { createLogWriter, type LogStream, type LogWriter } from "../logs/log-writer.js";
import { kubeTime, type Container, type Terminated } from "../objects.js";
import type { MemoryWatch } from "../process/memory-watch.js";
import type { ProcessExit, ProcessSpec, ProcessSupervisor, RunningProcess } from "../process/supervisor.js";
import { parseQuantity } from "../quantity.js";
import { readLastWords } from "./last-words.js";

/** How long output may still come after the end: something that left the process group can hold the pipe open. */
const DRAIN_MS = 1000;

export interface RunDeps {
  supervisor: ProcessSupervisor;
  memory: MemoryWatch;
}

/** One run of a container's process, from start to end. */
export interface ContainerRun {
  readonly startedAt: number;
  readonly log: LogWriter;
  readonly end: Promise<Terminated>;
  /** SIGTERM to the process, SIGKILL to its group after the grace. A later call can only shorten the grace. */
  stop(graceMs: number): void;
}

const pump = async (source: RunningProcess["stdout"], stream: LogStream, log: LogWriter): Promise<void> => {
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) await log.append(stream, chunk);
  } catch {
    // Nowhere to write to, or the pipe broke: the process must not stand still for that.
    source.resume();
  }
};

const reasonOf = (exit: ProcessExit, exceeded: boolean): string => {
  if (exceeded) return "OOMKilled";
  if (exit.startError) return "StartError";
  return exit.code === 0 ? "Completed" : "Error";
};

export interface RunRequest {
  container: Container;
  spec: ProcessSpec;
  logFile: string;
  /** Where the container writes its last words. */
  terminationFile: string;
  /** Names this run, as a container's id would. */
  id: string;
}

export const startRun = ({ supervisor, memory }: RunDeps, request: RunRequest): ContainerRun => {
  const { container, spec, logFile } = request;
  const startedAt = Date.now();
  const log = createLogWriter(logFile);
  const running = supervisor.spawn(spec);
  const pumps = Promise.all([pump(running.stdout, "stdout", log), pump(running.stderr, "stderr", log)]);

  let exceeded = false;
  const limit = container.resources?.limits?.["memory"];
  const unwatch =
    limit !== undefined && running.pid !== undefined
      ? memory.watch(running.pid, parseQuantity(limit), () => {
          exceeded = true;
          running.killGroup();
        })
      : () => undefined;

  let killer: NodeJS.Timeout | undefined;
  let killAt = Infinity;
  const finish = async (): Promise<Terminated> => {
    const exit = await running.exit;
    const finishedAt = Date.now();
    clearTimeout(killer);
    unwatch();
    await Promise.race([pumps, delay(DRAIN_MS, undefined, { ref: false })]);
    running.stdout.destroy();
    running.stderr.destroy();
    await log.close().catch(() => undefined);
    const said = await readLastWords(container, { file: request.terminationFile, logFile, exitCode: exit.code });
    const message = exit.startError ?? said;
    return {
      exitCode: exit.code,
      reason: reasonOf(exit, exceeded),
      ...(message ? { message } : {}),
      startedAt: kubeTime(startedAt),
      finishedAt: kubeTime(finishedAt),
      containerID: request.id,
    };
  };

  return {
    startedAt,
    log,
    end: finish(),
    stop(graceMs) {
      const at = Date.now() + graceMs;
      if (at >= killAt) return;
      if (killAt === Infinity) running.signal("SIGTERM");
      killAt = at;
      clearTimeout(killer);
      killer = setTimeout(() => running.killGroup(), graceMs);
    },
  };
};
