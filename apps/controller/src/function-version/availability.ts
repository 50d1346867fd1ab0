import type { FunctionVersion } from "@sless/contracts";
import type { Deployment, Pod } from "@sless/kube";
import { conditionOf, fails, holds, problem, type Problem, type Verdict } from "../status/condition-set.js";
import { isFinalReason } from "../status/final-reasons.js";
import { isPodReady, podFailure, restartsOf } from "./pod-failures.js";

export interface WorkloadView {
  readonly version: FunctionVersion;
  readonly deployment: Deployment | undefined;
  /** Pods of this version in its workload namespace. */
  readonly pods: readonly Pod[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly startSeconds: number;
}

/** How a version's workload stands. */
export interface Availability {
  readonly readyReplicas: number;
  readonly restarts: number;
  /** Something answers. */
  readonly available: Verdict;
  /** All that shall run answers, in its newest form. */
  readonly ready: Verdict;
  /** A pod that crashed and whose log may say why. */
  readonly crashed: Pod | undefined;
  /** When a start that is still on its way counts as failed, in ms from now. */
  readonly decideInMs: number | undefined;
}

/** A quota's refusal stands in the Deployment, copied from its ReplicaSet; the pod never exists (D27). */
const creationRefused = ({ deployment }: WorkloadView): Problem | undefined => {
  const failure = deployment?.status?.conditions?.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  if (!failure) return undefined;
  const message = failure.message ?? "";
  const byQuota = /exceeded quota|failed quota/.test(message);
  return problem(byQuota ? "QuotaExceeded" : "InternalError", `instances can't be created: ${message}`);
};

const notReadyPods = ({ pods }: WorkloadView): readonly Pod[] =>
  pods.filter((pod) => !pod.metadata.deletionTimestamp && !isPodReady(pod));

const startedAt = (pod: Pod): number => Date.parse(pod.metadata.creationTimestamp ?? "");

const msUntilTooLate = (view: WorkloadView): number | undefined => {
  const ages = notReadyPods(view).map((pod) => startedAt(pod) + view.startSeconds * 1000 - view.now);
  return ages.length === 0 ? undefined : Math.min(...ages);
};

const startTooSlow = (view: WorkloadView): Problem | undefined => {
  const left = msUntilTooLate(view);
  if (left === undefined || left > 0) return undefined;
  return problem("ProbeFailed", `no instance became ready within ${view.startSeconds} s`);
};

const isRolledOut = ({ deployment, version }: WorkloadView): boolean =>
  deployment?.status?.observedGeneration === deployment?.metadata.generation &&
  (deployment?.status?.updatedReplicas ?? 0) >= version.spec.replicas;

/** A version that failed and was scaled down for it remembers why; any other just rests. */
const scaledDown = (version: FunctionVersion): Problem => {
  const before = conditionOf(version, "Ready");
  if (before?.status === "False" && isFinalReason(before.reason)) {
    return problem(before.reason as Problem["reason"], before.message);
  }
  return problem("ScaledDown", `version ${version.spec.version} takes no calls and runs no instance`);
};

const shortage = (view: WorkloadView, readyReplicas: number): Problem | undefined => {
  const { version } = view;
  const { replicas } = version.spec;
  if (replicas === 0) return scaledDown(version);
  if (readyReplicas >= replicas && isRolledOut(view)) return undefined;
  const failed = notReadyPods(view)
    .map(podFailure)
    .find((why) => why !== undefined);
  const why = failed ?? creationRefused(view) ?? startTooSlow(view);
  return (
    why ?? problem("Starting", `${readyReplicas} of ${replicas} instance(s) of version ${version.spec.version} ready`)
  );
};

/** Judges a version's workload from what Kubernetes says of its Deployment and pods. */
export const judgeWorkload = (view: WorkloadView): Availability => {
  const readyReplicas = view.pods.filter(isPodReady).length;
  const why = shortage(view, readyReplicas);
  const isStarting = why?.reason === "Starting";
  return {
    readyReplicas,
    restarts: Math.max(0, ...view.pods.map(restartsOf)),
    available: readyReplicas > 0 ? holds("Available", `${readyReplicas} instance(s)`) : fails(why ?? NOTHING),
    ready: why ? fails(why) : holds("Ready", `${readyReplicas} instance(s)`),
    crashed: why?.reason === "CrashLoop" ? notReadyPods(view).find((pod) => restartsOf(pod) > 0) : undefined,
    decideInMs: isStarting ? msUntilTooLate(view) : undefined,
  };
};

const NOTHING = problem("Starting", "no instance is ready");
