import {
  JOBS,
  keyOf,
  kubeTime,
  PODS,
  splitKey,
  withCondition,
  type Job,
  type JobStatus,
  type Pod,
  type PodTemplate,
} from "../objects.js";
import { itself, itsOwner, startController, type Controller, type ControllerDeps } from "./controller.js";
import {
  deadlineOf,
  decideEnd,
  isFinished,
  measureProgress,
  nextAttemptAt,
  type JobEnd,
  type JobProgress,
} from "./job-policy.js";
import { createPodFrom, isPodReady, podsOf } from "./pod-control.js";
import type { WorkQueue } from "./work-queue.js";

/** Waits between attempts of a job, ms; Kubernetes begins at 10 s and ends at 10 min. */
export interface JobBackoff {
  baseMs: number;
  maxMs: number;
}

const DEFAULT_JOB_BACKOFF: JobBackoff = { baseMs: 1000, maxMs: 600_000 };

const templateOf = (job: Job): PodTemplate => {
  const { metadata, spec } = job.spec.template;
  const { name, uid = "" } = job.metadata;
  const labels = {
    ...metadata?.labels,
    "job-name": name,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "batch.kubernetes.io/controller-uid": uid,
  };
  return { metadata: { ...metadata, labels }, spec };
};

/** Counts of zero are left out, as the API does. */
const countsOf = ({ active, succeeded, failed }: JobProgress, isOver: boolean): JobStatus => ({
  ...(isOver || active.length === 0 ? {} : { active: active.length }),
  ready: isOver ? 0 : active.filter(isPodReady).length,
  ...(succeeded > 0 ? { succeeded } : {}),
  ...(failed > 0 ? { failed } : {}),
});

const makeStatus = (job: Job, progress: JobProgress, end: JobEnd | undefined, now: number): JobStatus => {
  const startTime = job.status?.startTime ?? (job.spec.suspend ? undefined : kubeTime(now));
  const status = { ...countsOf(progress, end !== undefined), ...(startTime ? { startTime } : {}) };
  if (!end) return status;
  const conditions = withCondition(job.status?.conditions, { ...end, status: "True" }, now);
  return { ...status, conditions, ...(end.type === "Complete" ? { completionTime: kubeTime(now) } : {}) };
};

/** Runs a pod of each Job until one succeeds, the failures are too many, or its time is over. */
export const startJobController = (deps: ControllerDeps, backoff = DEFAULT_JOB_BACKOFF): Controller => {
  const { store, events, nodeName } = deps;

  const deletePods = (pods: readonly Pod[]): void => {
    for (const { metadata } of pods) store.delete(PODS, metadata.namespace, metadata.name, { uid: metadata.uid });
  };
  const expire = (job: Job, queue: WorkQueue): void => {
    const ttl = job.spec.ttlSecondsAfterFinished;
    if (ttl === undefined) return;
    const ends = (job.status?.conditions ?? []).map(({ lastTransitionTime = "" }) => Date.parse(lastTransitionTime));
    const left = Math.max(...ends) + ttl * 1000 - Date.now();
    if (left > 0) queue.addAfter(keyOf(job), left);
    else
      store.delete(JOBS, job.metadata.namespace, job.metadata.name, {
        uid: job.metadata.uid,
        propagationPolicy: "Background",
      });
  };
  /** Starts the next attempt when it is time; a refused one is tried again by the queue, later each time. */
  const attempt = (job: Job, progress: JobProgress, queue: WorkQueue): void => {
    if (progress.active.length > 0 || job.spec.parallelism === 0) return;
    const wait = nextAttemptAt(progress, backoff.baseMs, backoff.maxMs) - Date.now();
    if (wait > 0) {
      queue.addAfter(keyOf(job), wait);
      return;
    }
    try {
      const pod = createPodFrom(store, job, { template: templateOf(job), nodeName });
      events.record(job, "Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      events.record(job, "Warning", "FailedCreate", `Error creating: ${(error as Error).message}`);
      throw error;
    }
  };
  const write = (job: Job, status: JobStatus): Job =>
    store.update(JOBS, { ...job, status }, { subresource: "status" }) as Job;

  const rules = [
    { type: JOBS, keysOf: itself },
    { type: PODS, keysOf: itsOwner("Job") },
  ];
  return startController(deps, "job", rules, (queue) => (key) => {
    const { namespace, name } = splitKey(key);
    const job = store.get(JOBS, namespace, name) as Job | undefined;
    if (!job || job.metadata.deletionTimestamp) return;
    if (isFinished(job)) return expire(job, queue);
    const progress = measureProgress(job, podsOf(store, job));
    const end = decideEnd(job, progress, Date.now());
    const stored = write(job, makeStatus(job, progress, end, Date.now()));
    if (end) {
      events.record(job, end.type === "Complete" ? "Normal" : "Warning", end.reason, end.message);
      return deletePods(progress.active);
    }
    if (job.spec.suspend) return deletePods(progress.active);
    const deadline = deadlineOf(stored);
    if (deadline !== undefined) queue.addAfter(key, deadline - Date.now());
    attempt(stored, progress, queue);
  });
};
