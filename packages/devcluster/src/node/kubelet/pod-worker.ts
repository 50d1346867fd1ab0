import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterStore } from "../../store/types.js";
import { PODS, type Container, type ContainerStatus, type Pod, type PodStatus } from "../objects.js";
import { PORTS_ANNOTATION, type AddressPool, type PodAddress } from "./addresses.js";
import type { PortVariables } from "./container-process.js";
import { runContainer, type ContainerDeps, type ContainerRunner } from "./container-runner.js";
import { ContainerConfigError } from "./env.js";
import type { MachineCommands } from "./machine-commands.js";
import { makePodStatus, type PodFacts } from "./pod-status.js";
import { findUnsupported } from "./unsupported.js";
import { makeVolumes } from "./volumes.js";

export interface PodDeps extends ContainerDeps {
  store: ClusterStore;
  addresses: AddressPool;
  commands: MachineCommands;
  portVariables: PortVariables;
  hostIP: string;
  /** Holds a folder per pod uid. */
  podsFolder: string;
}

/** Runs one pod from its binding to its end. */
export interface PodWorker {
  readonly uid: string;
  /** Ends the containers within the grace and frees what the pod held. Further calls can shorten the grace. */
  stop(graceMs: number): Promise<void>;
  container(name: string): ContainerRunner | undefined;
}

const isAlive = ({ state }: ContainerStatus): boolean => state.running !== undefined || state.waiting !== undefined;

/** What a container that ran when its node went is known by: it was not seen to end. */
const makeLost = (previous: ContainerStatus) => ({
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was restarted",
  startedAt: previous.state.running?.startedAt ?? "1970-01-01T00:00:00Z",
  finishedAt: "1970-01-01T00:00:00Z",
  containerID: previous.containerID ?? "",
});

/** The status to begin with: fresh, or taken up from a run of the node that has ended. */
const initialStatus = (container: Container, previous: ContainerStatus | undefined): ContainerStatus => {
  const waiting = { waiting: { reason: "ContainerCreating" } };
  const base = { name: container.name, image: container.image, imageID: "", ready: false, started: false };
  if (!previous) return { ...base, restartCount: 0, state: waiting, lastState: {} };
  if (!previous.state.running) return { ...previous, ready: false, started: false };
  const lastState = { terminated: makeLost(previous) };
  return { ...base, restartCount: previous.restartCount + 1, state: waiting, lastState };
};

/** A container that must not run a second time keeps the end it had, or counts as lost. */
const isOver = (pod: Pod, status: ContainerStatus): boolean => {
  const policy = pod.spec.restartPolicy ?? "Always";
  const end = status.state.terminated;
  if (end) return policy === "Never" || (policy === "OnFailure" && end.exitCode === 0);
  const lost = status.lastState.terminated?.reason === "ContainerStatusUnknown";
  if (policy !== "Never" || !lost || !status.lastState.terminated) return false;
  status.state = { terminated: status.lastState.terminated };
  status.lastState = {};
  status.restartCount -= 1;
  return true;
};

export const startPodWorker = (deps: PodDeps, pod: Pod): PodWorker => {
  const { store, addresses } = deps;
  const { namespace, name, uid = "" } = pod.metadata;
  const podFolder = join(deps.podsFolder, uid);
  const facts: PodFacts = { startedAt: Date.now(), hostIP: deps.hostIP };
  const runners = new Map<string, ContainerRunner>();
  const statuses = pod.spec.containers.map((container) =>
    initialStatus(
      container,
      pod.status?.containerStatuses?.find((status) => status.name === container.name),
    ),
  );
  let address: PodAddress | undefined;
  let stopping = false;

  const current = (): Pod | undefined => {
    const found = store.get(PODS, namespace, name) as Pod | undefined;
    return found?.metadata.uid === uid ? found : undefined;
  };
  const publish = (): void => {
    const stored = current();
    if (!stored) return;
    const status: PodStatus = makePodStatus(stored, facts, structuredClone(statuses), Date.now());
    store.update(PODS, { ...stored, status }, { subresource: "status" });
  };
  const waitAll = (reason: string, message: string): void => {
    for (const status of statuses) status.state = { waiting: { reason, message } };
    publish();
    deps.events.record(pod, "Warning", "Failed", `Error: ${message}`);
  };

  const noteMovedPorts = ({ ports }: PodAddress): void => {
    const stored = current();
    if (ports.size === 0 || !stored) return;
    const annotations = {
      ...stored.metadata.annotations,
      [PORTS_ANNOTATION]: JSON.stringify(Object.fromEntries(ports)),
    };
    store.update(PODS, { ...stored, metadata: { ...stored.metadata, annotations } });
  };

  const makeVolumesWhenReady = async (): Promise<Map<string, string>> => {
    for (;;) {
      const changed = new AbortController();
      try {
        return makeVolumes(store, pod, join(podFolder, "volumes"));
      } catch (error) {
        if (!(error instanceof ContainerConfigError) || stopping) throw error;
        waitAll("CreateContainerConfigError", error.message);
        await deps.configChanged(namespace ?? "", AbortSignal.any([changed.signal, stopped.signal]));
      }
    }
  };
  const stopped = new AbortController();

  const run = async (): Promise<void> => {
    const unsupported = findUnsupported(pod);
    if (unsupported) return waitAll("CreateContainerConfigError", `devcluster does not support ${unsupported}`);
    const todo = statuses.filter((status) => !isOver(pod, status));
    if (todo.length === 0) return publish();
    const own = await addresses.allocate(pod.spec.containers);
    address = own;
    facts.podIP = own.ip;
    noteMovedPorts(own);
    publish();
    const volumes = await makeVolumesWhenReady();
    const setup = { ...deps, pod: current() ?? pod, address: own, podFolder, volumes };
    for (const status of todo) {
      const container = pod.spec.containers.find((candidate) => candidate.name === status.name);
      if (!container || stopping) continue;
      runners.set(container.name, runContainer(deps, { setup: { ...setup, container }, status, publish }));
    }
    await Promise.all([...runners.values()].map(({ done }) => done));
  };
  const release = (): void => {
    if (address) addresses.release(address);
    address = undefined;
  };
  const running = run()
    .catch((error: Error) => {
      // Anything here is a fault of the machine or of this program: the pod says so instead of hanging in silence.
      if (!stopping && statuses.some(isAlive)) waitAll("CreateContainerError", error.message);
    })
    .finally(release);

  return {
    uid,
    container: (container) => runners.get(container),
    async stop(graceMs) {
      stopping = true;
      stopped.abort();
      for (const runner of runners.values()) runner.stop(graceMs);
      await running;
    },
  };
};

/** Removes what a pod has left on disk: logs, volumes, last words. */
export const removePodFolder = (podsFolder: string, uid: string): Promise<void> =>
  rm(join(podsFolder, uid), { recursive: true, force: true, maxRetries: 3 });
