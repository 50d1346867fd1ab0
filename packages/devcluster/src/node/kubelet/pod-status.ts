import {
  kubeTime,
  withCondition,
  type Condition,
  type ContainerStatus,
  type Pod,
  type PodPhase,
  type PodStatus,
} from "../objects.js";

/** What is known of a pod beside its containers. */
export interface PodFacts {
  startedAt: number;
  hostIP: string;
  podIP?: string | undefined;
}

/** Phase by the rules of the kubelet: pending until every container has once started, ended when all have for good. */
const phaseOf = (pod: Pod, statuses: readonly ContainerStatus[]): PodPhase => {
  const policy = pod.spec.restartPolicy ?? "Always";
  const ends = statuses.map(({ state }) => state.terminated);
  const isOver = ends.every((end) => end && (policy === "Never" || (policy === "OnFailure" && end.exitCode === 0)));
  if (isOver) return ends.every((end) => end?.exitCode === 0) ? "Succeeded" : "Failed";
  const hasStarted = ({ state, lastState }: ContainerStatus) => !state.waiting || lastState.terminated !== undefined;
  return statuses.every(hasStarted) ? "Running" : "Pending";
};

const unreadyReason = (phase: PodPhase, statuses: readonly ContainerStatus[]): Partial<Condition> => {
  if (phase === "Succeeded") return { reason: "PodCompleted" };
  if (phase === "Failed") return { reason: "PodFailed" };
  const names = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  return { reason: "ContainersNotReady", message: `containers with unready status: [${names.join(" ")}]` };
};

/** The status that says all this, with transition times kept from the status before. */
export const makePodStatus = (
  pod: Pod,
  facts: PodFacts,
  containerStatuses: ContainerStatus[],
  now: number,
): PodStatus => {
  const phase = phaseOf(pod, containerStatuses);
  const isReady = containerStatuses.every(({ ready }) => ready);
  const readiness = isReady ? {} : unreadyReason(phase, containerStatuses);
  const status = isReady ? "True" : "False";
  const wanted: Condition[] = [
    { type: "PodReadyToStartContainers", status: facts.podIP ? "True" : "False" },
    { type: "Initialized", status: "True" },
    { type: "Ready", status, ...readiness },
    { type: "ContainersReady", status, ...readiness },
    { type: "PodScheduled", status: "True" },
  ];
  const conditions = wanted.reduce<Condition[]>(
    (all, condition) => withCondition(all, condition, now),
    pod.status?.conditions ?? [],
  );
  return {
    phase,
    conditions,
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    ...(facts.podIP ? { podIP: facts.podIP, podIPs: [{ ip: facts.podIP }] } : {}),
    startTime: kubeTime(facts.startedAt),
    containerStatuses,
  };
};
