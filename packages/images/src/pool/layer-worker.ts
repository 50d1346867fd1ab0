import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CodeRejected } from "../code/errors.js";
import { LayerPoolError, LayerTimeout, LayerWorkerDied } from "./errors.js";
import type { LayerTasks, TaskName, WorkerAnswer } from "./protocol.js";

/** A thread can't load TypeScript: from the sources as from the build, the built file is used. */
const ENTRY = new URL("../../dist/pool/worker.js", import.meta.url);

export interface WorkerBounds {
  /** JavaScript heap of one worker, MiB. */
  heapMB: number;
  /** For one task. */
  timeoutMs: number;
}

/** One thread that does one task at a time. Once `dead` it must be replaced. */
export interface LayerWorker {
  readonly dead: boolean;
  /** @throws CodeRejected, LayerTimeout, LayerWorkerDied, LayerPoolError; whatever `signal` was aborted with */
  run<Name extends TaskName>(
    task: Name,
    input: LayerTasks[Name]["input"],
    signal?: AbortSignal,
  ): Promise<LayerTasks[Name]["output"]>;
  end(): Promise<void>;
}

/** @throws Error when the package was not built */
export function createLayerWorker(bounds: WorkerBounds): LayerWorker {
  if (!existsSync(ENTRY))
    throw new Error(`${fileURLToPath(ENTRY)} is missing: run "pnpm --filter @sless/images build"`);
  const thread = new Worker(ENTRY, {
    resourceLimits: { maxOldGenerationSizeMb: bounds.heapMB, maxYoungGenerationSizeMb: 32 },
    // Inherited flags of the process (--input-type, test runners') may keep a thread from starting.
    execArgv: [],
    env: {},
    stdin: false,
  });
  thread.unref();
  let dead = false;
  let current: PendingTask | undefined;

  const settle = (finish: (task: PendingTask) => void): void => {
    const task = current;
    current = undefined;
    thread.unref();
    if (task) finish(task);
  };
  /** The task's caller hears of it once the thread no longer writes anywhere. */
  const kill = (error: unknown): void => {
    dead = true;
    settle((task) => void thread.terminate().finally(() => task.reject(error as Error)));
  };
  thread.on("message", (answer: WorkerAnswer) => settle((task) => settleAnswer(answer, task)));
  thread.on("error", (cause) => kill(new LayerWorkerDied(deathReason(cause), { cause })));
  thread.on("exit", (code) => kill(new LayerWorkerDied(`exit code ${code}`)));

  return {
    get dead() {
      return dead;
    },
    end: async () => {
      dead = true;
      await thread.terminate();
    },
    run: (task, input, signal) => {
      const timer = setTimeout(() => kill(new LayerTimeout(bounds.timeoutMs)), bounds.timeoutMs);
      const onAbort = (): void => kill(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      return new Promise<LayerTasks[typeof task]["output"]>((resolve, reject) => {
        current = { resolve, reject };
        thread.ref();
        thread.postMessage({ task, input });
      }).finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      });
    },
  };
}

interface PendingTask {
  resolve: (output: WorkerOutput) => void;
  reject: (error: Error) => void;
}

type WorkerOutput = LayerTasks[TaskName]["output"];

function settleAnswer(answer: WorkerAnswer, { resolve, reject }: PendingTask): void {
  switch (answer.outcome) {
    case "done":
      return resolve(answer.output);
    case "rejected":
      return reject(new CodeRejected(answer.fault, answer.message, answer.path));
    case "failed":
      return reject(new LayerPoolError(`Processing the code failed: ${answer.message}`));
  }
}

function deathReason(cause: unknown): string {
  const outOfMemory = cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
  return outOfMemory ? "it needed more memory than a worker may have" : String(cause).slice(0, 200);
}
