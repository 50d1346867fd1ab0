import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ImageLease } from "../image/image-cache.js";
import type { ContainerStatus, Terminated } from "../objects.js";
import type { ProcessSpec } from "../process/supervisor.js";
import { createBackoff, type BackoffOptions } from "./backoff.js";
import { makeProcessSpec, terminationFile, type ContainerSetup } from "./container-process.js";
import { startRun, type ContainerRun, type RunDeps } from "./container-run.js";
import { ContainerConfigError } from "./env.js";
import { superviseProbes } from "./probes.js";
import { pullImage, RETRY, type PullDeps } from "./pull-image.js";
import { restartsAfter } from "./resume.js";

export interface ContainerDeps extends RunDeps, PullDeps {
  backoff: BackoffOptions;
  /** Resolves when a Secret or ConfigMap of the namespace changes, or the signal aborts. */
  configChanged: (namespace: string, signal: AbortSignal) => Promise<void>;
}

export interface ContainerContext {
  setup: Omit<ContainerSetup, "image">;
  status: ContainerStatus;
  /** Called after each change of `status`. */
  publish: () => void;
}

export interface ContainerRunner {
  /** Settles when the container has ended for good. Never rejects but for a defect. */
  readonly done: Promise<void>;
  /** Ends it and keeps it from starting again. */
  stop(graceMs: number): void;
  /** The log of the present run or else of the last one. */
  log(): ContainerRun["log"] | undefined;
  /** The file of the log before that. */
  previousLogFile(): string | undefined;
}

const formatSeconds = (ms: number): string => `${Math.round(ms / 1000)}s`;

/** The present log and the one before are kept, as `kubectl logs --previous` asks for. */
const forgetLog = async (file: string | undefined): Promise<void> => {
  if (file === undefined) return;
  await rm(file, { force: true });
  await rm(`${file}.1`, { force: true });
};

/** Runs one container of a pod: pull, prepare, run, restart by policy, until it is stopped or over. */
export const runContainer = (deps: ContainerDeps, context: ContainerContext): ContainerRunner => {
  const { status, publish, setup } = context;
  const { pod, container } = setup;
  const stopping = new AbortController();
  const { signal } = stopping;
  let current: ContainerRun | undefined;
  let previousLog: string | undefined;
  let graceMs = 0;

  const wait = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };
  const waitFor = (reason: string, message?: string): void => {
    status.state = { waiting: { reason, ...(message ? { message } : {}) } };
    status.ready = false;
    status.started = false;
    publish();
  };

  const prepare = async (lease: ImageLease): Promise<ProcessSpec | undefined> => {
    const retry = createBackoff(RETRY);
    while (!signal.aborted) {
      try {
        return await makeProcessSpec({ ...setup, image: lease.image });
      } catch (error) {
        if (!(error instanceof ContainerConfigError)) throw error;
        waitFor("CreateContainerConfigError", error.message);
        deps.events.record(pod, "Warning", "Failed", `Error: ${error.message}`);
        const attempt = new AbortController();
        const either = AbortSignal.any([signal, attempt.signal]);
        await Promise.race([
          wait(retry.next(0) || RETRY.baseMs),
          deps.configChanged(pod.metadata.namespace ?? "", either),
        ]);
        attempt.abort();
      }
    }
    return undefined;
  };

  const run = async (spec: ProcessSpec): Promise<Terminated> => {
    const { podFolder } = setup;
    const id = `process://${pod.metadata.uid}/${container.name}/${status.restartCount}`;
    const logFile = join(podFolder, "logs", container.name, `${status.restartCount}.log`);
    await forgetLog(previousLog);
    previousLog = current?.log.file;
    current = startRun(deps, {
      container,
      spec,
      logFile,
      terminationFile: terminationFile(podFolder, container.name),
      id,
    });
    if (signal.aborted) current.stop(graceMs);
    status.containerID = id;
    status.state = { running: { startedAt: new Date(current.startedAt).toISOString().replace(/\.\d+Z$/, "Z") } };
    deps.events.record(pod, "Normal", "Started", `Started container ${container.name}`);
    const endProbes = superviseProbes({ ...deps, spec, context }, current);
    const terminated = await current.end;
    endProbes();
    status.state = { terminated };
    status.ready = false;
    status.started = false;
    return terminated;
  };

  const runUntilOver = async (): Promise<void> => {
    const backoff = createBackoff(deps.backoff);
    while (!signal.aborted) {
      const lease = await pullImage(deps, { pod, container }, { waitFor, wait, signal });
      if (!lease) return;
      status.imageID = `${container.image.replace(/[:@][^/]*$/, "")}@${lease.image.digest}`;
      const spec = await prepare(lease);
      const terminated = spec && (await run(spec));
      lease.release();
      publish();
      if (!terminated || signal.aborted || !restartsAfter(pod, terminated)) return;
      await restartLater(terminated, backoff.next(Date.now() - (current?.startedAt ?? 0)));
    }
  };
  const restartLater = async (terminated: Terminated, ms: number): Promise<void> => {
    status.lastState = { terminated };
    status.restartCount += 1;
    const podName = `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
    if (ms > 0) {
      waitFor(
        "CrashLoopBackOff",
        `back-off ${formatSeconds(ms)} restarting failed container=${container.name} pod=${podName}`,
      );
      deps.events.record(
        pod,
        "Warning",
        "BackOff",
        `Back-off restarting failed container ${container.name} in pod ${podName}`,
      );
    }
    await wait(ms);
  };

  return {
    done: runUntilOver(),
    stop(ms) {
      graceMs = ms;
      stopping.abort();
      current?.stop(ms);
    },
    log: () => current?.log,
    previousLogFile: () => previousLog,
  };
};
