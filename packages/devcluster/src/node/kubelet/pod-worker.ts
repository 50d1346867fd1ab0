import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterStore } from "../../store/types.js";
import { PODS, type ContainerStatus, type Pod, type PodStatus } from "../objects.js";
import { PORTS_ANNOTATION, type AddressPool, type PodAddress } from "./addresses.js";
import type { PortVariables } from "./container-process.js";
import { runContainer, type ContainerDeps, type ContainerRunner } from "./container-runner.js";
import { ContainerConfigError } from "./env.js";
import type { MachineCommands } from "./machine-commands.js";
import { makePodStatus, type PodFacts } from "./pod-status.js";
import { resumeContainer } from "./resume.js";
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

export const startPodWorker = (deps: PodDeps, pod: Pod): PodWorker => {
  const { store, addresses } = deps;
  const { namespace, name, uid = "" } = pod.metadata;
  const podFolder = join(deps.podsFolder, uid);
  const facts: PodFacts = { startedAt: Date.now(), hostIP: deps.hostIP };
  const runners = new Map<string, ContainerRunner>();
  const containers = pod.spec.containers.map((container) => ({ container, ...resumeContainer(pod, container) }));
  const statuses = containers.map(({ status }) => status);
  let address: PodAddress | undefined;
  let stopping = false;
  const stopped = new AbortController();

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
      try {
        return makeVolumes(store, pod, join(podFolder, "volumes"));
      } catch (error) {
        if (!(error instanceof ContainerConfigError) || stopping) throw error;
        waitAll("CreateContainerConfigError", error.message);
        await deps.configChanged(namespace ?? "", stopped.signal);
      }
    }
  };

  const run = async (): Promise<void> => {
    const unsupported = findUnsupported(pod);
    if (unsupported) return waitAll("CreateContainerConfigError", `devcluster does not support ${unsupported}`);
    const todo = containers.filter(({ isOver }) => !isOver);
    if (todo.length === 0) return publish();
    const own = await addresses.allocate(pod.spec.containers);
    address = own;
    facts.podIP = own.ip;
    noteMovedPorts(own);
    publish();
    const volumes = await makeVolumesWhenReady();
    const setup = { ...deps, pod: current() ?? pod, address: own, podFolder, volumes };
    for (const { container, status } of todo) {
      if (stopping) return;
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
