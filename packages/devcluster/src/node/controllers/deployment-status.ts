import {
  conditionOf,
  kubeTime,
  withCondition,
  type Condition,
  type Deployment,
  type DeploymentStatus,
  type ReplicaSet,
} from "../objects.js";
import { rollingBounds } from "./rollout.js";

const total = (sets: readonly ReplicaSet[], field: "replicas" | "readyReplicas" | "availableReplicas"): number =>
  sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);

type Counts = Required<Pick<DeploymentStatus, "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas">>;

const isComplete = ({ spec }: Deployment, counts: Counts): boolean => {
  const replicas = spec.replicas ?? 1;
  return counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas >= replicas;
};

const hasProgressed = (before: DeploymentStatus, counts: Counts): boolean =>
  counts.updatedReplicas > (before.updatedReplicas ?? 0) ||
  counts.readyReplicas > (before.readyReplicas ?? 0) ||
  counts.availableReplicas > (before.availableReplicas ?? 0) ||
  counts.replicas - counts.updatedReplicas < (before.replicas ?? 0) - (before.updatedReplicas ?? 0);

const availableCondition = (deployment: Deployment, { availableReplicas }: Counts): Condition => {
  const replicas = deployment.spec.replicas ?? 1;
  const isRolling = deployment.spec.strategy?.type !== "Recreate";
  const minimum = replicas - (isRolling ? rollingBounds(deployment).unavailable : 0);
  return availableReplicas >= minimum
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
};

/** When a rollout that stands still counts as failed, ms since the epoch. */
export const progressDeadline = ({ spec }: Deployment, progressing: Condition | undefined): number =>
  Date.parse(progressing?.lastUpdateTime ?? "") + (spec.progressDeadlineSeconds ?? 600) * 1000;

/** What is still so was so since then: an update time that moved would be a write for nothing. */
const sameSince = (before: Condition | undefined, next: Condition): Condition =>
  before && before.reason === next.reason && before.message === next.message ? before : next;

const progressCondition = (
  deployment: Deployment,
  { current, counts, now }: { current: ReplicaSet; counts: Counts; now: number },
): Condition => {
  const before = conditionOf(deployment.status?.conditions, "Progressing");
  const what = `ReplicaSet "${current.metadata.name}"`;
  const make = (status: "True" | "False", reason: string, message: string): Condition => ({
    ...{ type: "Progressing", status, reason, message, lastUpdateTime: kubeTime(now) },
  });
  if (isComplete(deployment, counts)) {
    const complete = make("True", "NewReplicaSetAvailable", `${what} has successfully progressed.`);
    return sameSince(before, complete);
  }
  if (!before?.message?.includes(`"${current.metadata.name}"`)) {
    return make("True", "NewReplicaSetCreated", `Created new replica set "${current.metadata.name}"`);
  }
  const wasComplete = before.reason === "NewReplicaSetAvailable";
  if (wasComplete || hasProgressed(deployment.status ?? {}, counts)) {
    return make("True", "ReplicaSetUpdated", `${what} is progressing.`);
  }
  if (now < progressDeadline(deployment, before)) return before;
  return sameSince(before, make("False", "ProgressDeadlineExceeded", `${what} has timed out progressing.`));
};

/**
 * The status of a Deployment from its sets.
 * @param sets all of them, `current` included
 */
export const makeDeploymentStatus = (
  deployment: Deployment,
  { current, sets, now }: { current: ReplicaSet; sets: readonly ReplicaSet[]; now: number },
): DeploymentStatus => {
  const counts: Counts = {
    replicas: total(sets, "replicas"),
    updatedReplicas: total([current], "replicas"),
    readyReplicas: total(sets, "readyReplicas"),
    availableReplicas: total(sets, "availableReplicas"),
  };
  const failure = sets.map((set) => conditionOf(set.status?.conditions, "ReplicaFailure")).find(Boolean);
  let conditions = (deployment.status?.conditions ?? []).filter(({ type }) => type !== "ReplicaFailure" || failure);
  conditions = withCondition(conditions, availableCondition(deployment, counts), now);
  conditions = withCondition(conditions, progressCondition(deployment, { current, counts, now }), now);
  if (failure) conditions = withCondition(conditions, { ...failure }, now);
  const unavailable = sets.reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0) - counts.availableReplicas;
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...counts,
    ...(unavailable > 0 ? { unavailableReplicas: unavailable } : {}),
    conditions,
  };
};
