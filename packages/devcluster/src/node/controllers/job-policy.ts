import { conditionOf, type Job, type Pod } from "../objects.js";
import { isActive } from "./pod-control.js";

/** What became of a job's pods so far. */
export interface JobProgress {
  active: Pod[];
  succeeded: number;
  failed: number;
  /** When the last failed pod ended, ms; undefined without one. */
  lastFailure: number | undefined;
}

export interface JobEnd {
  type: "Complete" | "Failed";
  reason: string;
  message: string;
}

const finishedAt = (pod: Pod): number => {
  const ends = pod.status?.containerStatuses?.map(({ state }) => Date.parse(state.terminated?.finishedAt ?? "")) ?? [];
  return Math.max(0, ...ends.filter(Number.isFinite));
};

const restarts = (pods: readonly Pod[]): number =>
  pods.flatMap((pod) => pod.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);

/** Counted pods stay counted when somebody deletes them: the status never goes back. */
export const measureProgress = (job: Job, pods: readonly Pod[]): JobProgress => {
  const of = (phase: string) => pods.filter(({ status }) => status?.phase === phase);
  const failed = of("Failed");
  return {
    active: pods.filter(isActive),
    succeeded: Math.max(of("Succeeded").length, job.status?.succeeded ?? 0),
    failed: Math.max(failed.length, job.status?.failed ?? 0),
    lastFailure: failed.length > 0 ? Math.max(...failed.map(finishedAt)) : undefined,
  };
};

export const isFinished = ({ status }: Job): boolean =>
  (["Complete", "Failed"] as const).some((type) => conditionOf(status?.conditions, type)?.status === "True");

/** When its active deadline passes, ms since the epoch; undefined without one. */
export const deadlineOf = ({ spec, status }: Job): number | undefined => {
  if (spec.activeDeadlineSeconds === undefined || !status?.startTime) return undefined;
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000;
};

/** Whether a job is over, and why, by the rules of the Job controller; undefined while it goes on. */
export const decideEnd = (job: Job, progress: JobProgress, now: number): JobEnd | undefined => {
  const { completions = 1, parallelism = 1, backoffLimit = 6 } = job.spec;
  if (completions > 1 || parallelism > 1) {
    const message = "devcluster runs jobs with completions 1 and parallelism 1 only";
    return { type: "Failed", reason: "Unsupported", message };
  }
  if (progress.succeeded >= 1) {
    return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
  }
  const attempts = progress.failed + restarts(progress.active);
  if (attempts > backoffLimit) {
    return { type: "Failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if (now >= (deadlineOf(job) ?? Infinity)) {
    return { type: "Failed", reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  return undefined;
};

/** When the next attempt may start, ms since the epoch: waits double from `baseMs` as failures add up. */
export const nextAttemptAt = ({ failed, lastFailure }: JobProgress, baseMs: number, maxMs: number): number =>
  lastFailure === undefined ? 0 : lastFailure + Math.min(maxMs, baseMs * 2 ** (failed - 1));
