import type { Container, ContainerStatus, Pod, Terminated } from "../objects.js";

/** What a container that ran when its node went is known by: nobody saw it end. */
const makeLost = (previous: ContainerStatus): Terminated => ({
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was restarted",
  startedAt: previous.state.running?.startedAt ?? "1970-01-01T00:00:00Z",
  finishedAt: "1970-01-01T00:00:00Z",
  containerID: previous.containerID ?? "",
});

const makeFresh = ({ name, image }: Container): ContainerStatus => ({
  ...{ name, image, imageID: "", ready: false, started: false, restartCount: 0, lastState: {} },
  state: { waiting: { reason: "ContainerCreating" } },
});

/** Whether a container of this pod is started again after such an end. */
export const restartsAfter = (pod: Pod, { exitCode }: Terminated): boolean => {
  const policy = pod.spec.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
};

export interface Resumed {
  status: ContainerStatus;
  /** It has ended for good and must not run a second time. */
  isOver: boolean;
}

/** Takes a container up where its stored status says it was: new, or left by a run of the node that has ended. */
export const resumeContainer = (pod: Pod, container: Container): Resumed => {
  const fresh = makeFresh(container);
  const previous = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
  if (!previous) return { status: fresh, isOver: false };
  const kept = { ...previous, ready: false, started: false };
  if (previous.state.terminated) return { status: kept, isOver: !restartsAfter(pod, previous.state.terminated) };
  if (!previous.state.running) return { status: kept, isOver: false };
  const terminated = makeLost(previous);
  if (pod.spec.restartPolicy === "Never") return { status: { ...kept, state: { terminated } }, isOver: true };
  const restartCount = previous.restartCount + 1;
  return { status: { ...fresh, restartCount, lastState: { terminated } }, isOver: false };
};
