import { TerminationMessage } from "@sless/contracts";
import type { ContainerStatus, Pod } from "@sless/kube";
import { problem, type Problem } from "../status/condition-set.js";

type Terminated = NonNullable<NonNullable<ContainerStatus["lastState"]>["terminated"]>;

const containerOf = (pod: Pod): ContainerStatus | undefined => pod.status?.containerStatuses?.[0];

/** How the container ended last, if it has ended since the pod began. */
const lastEnd = (pod: Pod): Terminated | undefined => {
  const container = containerOf(pod);
  return container?.state?.terminated ?? container?.lastState?.terminated;
};

const parseTermination = (text: string | undefined): TerminationMessage | undefined => {
  if (text === undefined || text === "") return undefined;
  try {
    return TerminationMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Written by something else than the supervisor: the exit code has to do.
  }
};

type Decision = (pod: Pod) => Problem | undefined;

/** What the supervisor left in the termination log. */
const saidByRuntime: Decision = (pod) => {
  const said = parseTermination(lastEnd(pod)?.message);
  if (!said) return undefined;
  return problem(said.reason === "WorkerCrashed" ? "CrashLoop" : said.reason, said.message);
};

const killedForMemory: Decision = (pod) => {
  if (lastEnd(pod)?.reason !== "OOMKilled") return undefined;
  const limit = pod.spec?.containers?.[0]?.resources?.limits?.["memory"];
  return problem("OutOfMemory", `an instance was killed: it needed more than its memory of ${String(limit ?? "?")}`);
};

const PULL_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
]);
const CREATE_REASONS = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "PreCreateHookError",
]);

const pullFailed: Decision = (pod) => {
  const waiting = containerOf(pod)?.state?.waiting;
  if (!waiting || !PULL_REASONS.has(waiting.reason ?? "")) return undefined;
  return problem("ImagePullFailed", `the image can't be pulled: ${waiting.message ?? waiting.reason ?? ""}`);
};

const containerNotCreated: Decision = (pod) => {
  const waiting = containerOf(pod)?.state?.waiting;
  if (!waiting || !CREATE_REASONS.has(waiting.reason ?? "")) return undefined;
  return problem("CrashLoop", `the container can't be started: ${waiting.message ?? waiting.reason ?? ""}`);
};

const describeEnd = ({ exitCode, signal, reason, message }: Terminated): string => {
  // Here alone the message is the container runtime's own; elsewhere it is whatever the code left in the file.
  if (reason === "StartError") return `could not be started: ${message ?? ""}`;
  return signal ? `was ended by signal ${signal}` : `exited with code ${exitCode}`;
};

const restarted = (pod: Pod): string => {
  const restarts = containerOf(pod)?.restartCount ?? 0;
  return restarts === 0 ? "" : `; ${restarts} restart(s) so far`;
};

const crashed: Decision = (pod) => {
  const end = lastEnd(pod);
  if (!end || containerOf(pod)?.state?.running) return undefined;
  return problem("CrashLoop", `an instance ${describeEnd(end)}${restarted(pod)}`);
};

const unschedulable: Decision = (pod) => {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  return problem("Unschedulable", `no node has room for an instance: ${scheduled.message ?? ""}`);
};

/** Most telling first: what the runtime said beats what the kubelet saw. */
const DECISIONS: readonly Decision[] = [
  saidByRuntime,
  killedForMemory,
  pullFailed,
  containerNotCreated,
  crashed,
  unschedulable,
];

/** Why a pod that is not ready is not; undefined while it may just be starting. */
export const podFailure = (pod: Pod): Problem | undefined => {
  for (const decide of DECISIONS) {
    const why = decide(pod);
    if (why) return why;
  }
  return undefined;
};

/** True for a pod that takes calls: ready, and not on its way out. */
export const isPodReady = (pod: Pod): boolean =>
  !pod.metadata.deletionTimestamp &&
  (pod.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True");

/** How often the pod's container was started again. */
export const restartsOf = (pod: Pod): number => containerOf(pod)?.restartCount ?? 0;
