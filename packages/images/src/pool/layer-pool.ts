import { rm } from "node:fs/promises";
import { DEFAULT_CODE_LIMITS, type CodeLimits } from "../code/limits.js";
import type { CodeLayer, CodeSummary } from "../layer/layer-from-zip.js";
import { LayerPoolClosed } from "./errors.js";
import { FairQueue } from "./fair-queue.js";
import { createLayerWorker, type LayerWorker } from "./layer-worker.js";
import type { LayerTasks, TaskName } from "./protocol.js";

export interface LayerPoolOptions {
  /** Threads. Default 2. */
  workers?: number;
  limits?: CodeLimits;
  /** Heap of one thread, MiB; its buffers come to about 20 MiB more. Default 128. */
  heapMB?: number;
  /** For one task, from its start. Default 60,000. */
  timeoutMs?: number;
  /** Tasks that may wait. Default 64. */
  queue?: number;
  /** Tasks of one tenant that may wait. Default a quarter of `queue`. */
  queuePerTenant?: number;
}

export interface TaskOptions {
  /** Whose share of the pool it takes: the tenant namespace. */
  tenant: string;
  /** Gives up; a task that runs is ended with its thread. */
  signal?: AbortSignal;
}

/**
 * Threads that read code from outside. Nothing that a zip holds costs the caller's event loop more than a message, or
 * the process more than the pool's memory and time.
 *
 * Every method throws `CodeRejected` when the code is at fault, a `LayerPoolError` when the pool is, and the signal's
 * reason when the caller gave up.
 */
export interface LayerPool {
  /** Zip file to compressed layer file. `out` is there exactly when this resolves. */
  layerFromZip(zip: string, out: string, options: TaskOptions): Promise<CodeLayer>;
  /** Checks everything that `layerFromZip` does, and writes nothing. */
  digestOfZip(zip: string, options: TaskOptions): Promise<{ codeDigest: string } & CodeSummary>;
  /** Reads only the directory of the zip. */
  inspectZip(zip: string, options: TaskOptions): Promise<CodeSummary>;
  /** Ends the threads; what waits or runs fails with `LayerPoolClosed`. */
  close(): Promise<void>;
}

/** Runs a task on a worker; never rejects. */
type Job = (worker: LayerWorker) => Promise<void>;

/** @throws Error when the package was not built */
export function createLayerPool(options: LayerPoolOptions = {}): LayerPool {
  const limits = options.limits ?? DEFAULT_CODE_LIMITS;
  const workers = options.workers ?? 2;
  const total = options.queue ?? 64;
  const queue = new FairQueue<Job>({ total, perKey: options.queuePerTenant ?? Math.max(1, Math.floor(total / 4)) });
  const bounds = { heapMB: options.heapMB ?? 128, timeoutMs: options.timeoutMs ?? 60_000 };
  const closing = new AbortController();
  const idle: LayerWorker[] = [createLayerWorker(bounds)];
  const running = new Map<string, number>();
  let busy = 0;

  /** With several threads one tenant never holds them all. */
  const mostPerTenant = Math.max(1, workers - 1);

  /** A thread may have died while it was idle. */
  const takeWorker = (): LayerWorker => {
    const worker = idle.pop();
    if (!worker) return createLayerWorker(bounds);
    return worker.dead ? takeWorker() : worker;
  };
  const dispatch = (): void => {
    while (busy < workers) {
      const next = queue.take((tenant) => (running.get(tenant) ?? 0) < mostPerTenant);
      if (!next) return;
      void execute(next.key, next.item);
    }
  };
  const execute = async (tenant: string, job: Job): Promise<void> => {
    busy++;
    running.set(tenant, (running.get(tenant) ?? 0) + 1);
    const worker = takeWorker();
    await job(worker);
    if (!worker.dead) idle.push(worker);
    busy--;
    const left = (running.get(tenant) ?? 1) - 1;
    if (left > 0) running.set(tenant, left);
    else running.delete(tenant);
    dispatch();
  };

  const submit = <Name extends TaskName>(
    task: Name,
    input: LayerTasks[Name]["input"],
    { tenant, signal }: TaskOptions,
  ) =>
    new Promise<LayerTasks[Name]["output"]>((resolve, reject) => {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      const giveUp = (): void => {
        if (queue.remove(tenant, job)) reject(either.reason as Error);
      };
      const job: Job = (worker) => {
        either.removeEventListener("abort", giveUp);
        return worker.run(task, input, either).then(resolve, reject);
      };
      queue.push(tenant, job);
      either.addEventListener("abort", giveUp, { once: true });
      dispatch();
    });

  return {
    layerFromZip: async (zip, out, task) => {
      try {
        return await submit("layerFromZip", { zip, out, limits }, task);
      } catch (error) {
        // A thread that was ended could not remove what it had begun.
        await rm(out, { force: true });
        throw error;
      }
    },
    digestOfZip: (zip, task) => submit("digestOfZip", { zip, limits }, task),
    inspectZip: (zip, task) => submit("inspectZip", { zip, limits }, task),
    close: async () => {
      closing.abort(new LayerPoolClosed("The pool that processes uploads is shutting down"));
      await Promise.all(idle.splice(0).map((worker) => worker.end()));
    },
  };
}
