import { createHash } from "node:crypto";
import { realpathSync, mkdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PodLogRequest } from "../../apiserver/http/pod-log.js";
import type { BasicCredentials } from "../../registry/basic-auth.js";
import { ApiStatusError, badRequest } from "../../store/api-status-error.js";
import type { ClusterStore, WatchEvent } from "../../store/types.js";
import { createImageCache } from "../image/image-cache.js";
import { readLogs, type LogOptions } from "../logs/log-reader.js";
import { CONFIG_MAPS, PODS, SECRETS, type Pod } from "../objects.js";
import { createMemoryWatch } from "../process/memory-watch.js";
import { createProcessSupervisor } from "../process/supervisor.js";
import { createAddressPool } from "./addresses.js";
import { DEFAULT_BACKOFF, type BackoffOptions } from "./backoff.js";
import type { PortVariables } from "./container-process.js";
import { createEventRecorder } from "./events.js";
import { createMachineCommands } from "./machine-commands.js";
import { createNodeObject } from "./node-object.js";
import { removePodFolder, startPodWorker, type PodDeps, type PodWorker } from "./pod-worker.js";
import { createCredentialsFor } from "./pull-credentials.js";

export interface KubeletOptions {
  store: ClusterStore;
  /** Images, logs, volumes and the record of processes. */
  dataDir: string;
  /** Default `localhost`. */
  nodeName?: string;
  /** Logins of the node by registry host. */
  registryLogins?: Readonly<Record<string, BasicCredentials>>;
  /** Waits between restarts of a crashing container. */
  backoff?: BackoffOptions;
  /** Use one loopback address for all pods; default: only where the system has but one. */
  singleAddress?: boolean;
  /** Which environment variable carries the port of a container port of this name, where ports are moved. */
  portVariables?: PortVariables;
  /** Hears of what was not meant to fail, such as a full disk. */
  onError?: (error: unknown) => void;
}

export interface Kubelet {
  readonly nodeName: string;
  /** Serves the log subresource of pods. */
  podLogs(request: PodLogRequest): AsyncIterable<Buffer>;
  /** Ends all pods, SIGTERM first, SIGKILL after at most `graceMs` (default 5 s). Their objects stay. */
  stop(graceMs?: number): Promise<void>;
}

const DEFAULT_PORT_VARIABLES: PortVariables = { call: "SLESS_PORT", control: "SLESS_CONTROL_PORT" };
const STOP_GRACE_MS = 5000;

const isOver = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** Names this node among all of the machine by where its data lies. */
const markerOf = (dataDir: string): string =>
  createHash("sha256").update(realpathSync(dataDir)).digest("hex").slice(0, 32);

const createConfigWatch =
  (store: ClusterStore) =>
  (namespace: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const from = { namespace, resourceVersion: store.resourceVersion() };
      const ends = [SECRETS, CONFIG_MAPS].map((type) => store.watch(type, from, () => end()));
      const end = (): void => {
        for (const unwatch of ends) unwatch();
        signal.removeEventListener("abort", end);
        resolve();
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });

const createDeps = async (options: KubeletOptions, folder: string): Promise<PodDeps> => {
  const { store, dataDir } = options;
  return {
    store,
    supervisor: createProcessSupervisor(folder, markerOf(dataDir)),
    images: await createImageCache({ folder: join(folder, "images") }),
    memory: createMemoryWatch(),
    events: createEventRecorder(store, "kubelet"),
    addresses: await createAddressPool(options.singleAddress),
    commands: createMachineCommands(),
    credentialsFor: createCredentialsFor(store, options.registryLogins ?? {}),
    configChanged: createConfigWatch(store),
    backoff: options.backoff ?? DEFAULT_BACKOFF,
    portVariables: options.portVariables ?? DEFAULT_PORT_VARIABLES,
    hostIP: "127.0.0.1",
    podsFolder: join(folder, "pods"),
  };
};

/**
 * The node agent: takes every pod, runs its containers as processes of this machine and says in its status how they
 * fare. It isolates nothing: no user, network or file system of their own.
 */
export const startKubelet = async (options: KubeletOptions): Promise<Kubelet> => {
  const { store, nodeName = "localhost" } = options;
  const folder = join(options.dataDir, "node");
  mkdirSync(folder, { recursive: true });
  const deps = await createDeps(options, folder);
  const workers = new Map<string, PodWorker>();
  const node = createNodeObject(store, nodeName);
  const ending = new Set<string>();
  let stopping = false;

  const finishDeletion = async (pod: Pod): Promise<void> => {
    const { namespace, name, uid = "" } = pod.metadata;
    try {
      store.delete(PODS, namespace, name, { uid, gracePeriodSeconds: 0 });
    } catch (error) {
      // Somebody else has removed it meanwhile; a new pod of the name has another uid.
      if (!(error instanceof ApiStatusError)) throw error;
    }
    workers.delete(uid);
    await removePodFolder(deps.podsFolder, uid);
  };
  const terminate = async (pod: Pod): Promise<void> => {
    const { uid = "", deletionGracePeriodSeconds = 0 } = pod.metadata;
    const worker = workers.get(uid);
    const stopped = worker?.stop(deletionGracePeriodSeconds * 1000);
    // Later events of a pod that is going can only shorten its grace.
    if (ending.has(uid)) return;
    ending.add(uid);
    if (worker) deps.events.record(pod, "Normal", "Killing", "Stopping container");
    await stopped;
    if (!stopping) await finishDeletion(pod);
    ending.delete(uid);
  };
  const removeForced = async (pod: Pod): Promise<void> => {
    const uid = pod.metadata.uid ?? "";
    await workers.get(uid)?.stop(0);
    workers.delete(uid);
    await removePodFolder(deps.podsFolder, uid);
  };
  const bind = (pod: Pod): Pod => {
    if (pod.spec.nodeName) return pod;
    const bound = store.update(PODS, { ...pod, spec: { ...pod.spec, nodeName } }) as Pod;
    deps.events.record(bound, "Normal", "Scheduled", `Successfully assigned ${pod.metadata.name} to ${nodeName}`);
    return bound;
  };

  const isElsewhere = ({ spec }: Pod): boolean => spec.nodeName !== undefined && spec.nodeName !== nodeName;
  const inBackground = (work: Promise<void>): void => {
    work.catch((error: unknown) => options.onError?.(error));
  };
  const onPod = ({ type, object }: WatchEvent): void => {
    if (stopping) return;
    if (type === "DELETED") return inBackground(removeForced(object as Pod));
    const { namespace, name, uid = "" } = object.metadata;
    // The event may be behind: what is bound is the pod as it is now.
    const pod = store.get(PODS, namespace, name) as Pod | undefined;
    if (pod?.metadata.uid !== uid) return;
    if (pod.metadata.deletionTimestamp) return inBackground(terminate(pod));
    if (workers.has(uid) || isOver(pod) || isElsewhere(pod)) return;
    workers.set(uid, startPodWorker(deps, bind(pod)));
  };

  await removeForeignFolders(store, deps.podsFolder);
  node.markReady();
  const unwatch = store.watch(PODS, {}, onPod);

  const openLog = (request: PodLogRequest): AsyncIterable<Buffer> => {
    const { pod, container, previous } = request;
    const runner = workers.get(pod.metadata.uid ?? "")?.container(container);
    const source = previous
      ? runner?.previousLogFile()
      : (runner?.log() ?? storedLog(deps.podsFolder, pod as Pod, container));
    if (source === undefined) {
      const what = previous ? "previous terminated container" : "container";
      throw badRequest(`${what} "${container}" in pod "${pod.metadata.name}" is waiting to start or not found`);
    }
    return readLogs(source, toLogOptions(request));
  };

  return {
    nodeName,
    podLogs: openLog,
    async stop(graceMs = STOP_GRACE_MS) {
      if (stopping) return;
      stopping = true;
      unwatch();
      await Promise.all([...workers.values()].map((worker) => worker.stop(graceMs)));
      await deps.supervisor.close();
      await deps.addresses.close();
      node.markStopped();
    },
  };
};

const toLogOptions = ({ follow, timestamps, tailLines, sinceTime, limitBytes, signal }: PodLogRequest): LogOptions => ({
  follow,
  timestamps,
  signal,
  ...(tailLines === undefined ? {} : { tailLines }),
  ...(sinceTime === undefined ? {} : { sinceTime }),
  ...(limitBytes === undefined ? {} : { limitBytes }),
});

/** The log file of a pod that ended before this run of the node. */
const storedLog = (podsFolder: string, pod: Pod, container: string): string | undefined => {
  const status = pod.status?.containerStatuses?.find(({ name }) => name === container);
  if (!status?.containerID) return undefined;
  return join(podsFolder, pod.metadata.uid ?? "", "logs", container, `${status.restartCount}.log`);
};

/** Folders of pods that were removed while the node was down. */
const removeForeignFolders = async (store: ClusterStore, podsFolder: string): Promise<void> => {
  mkdirSync(podsFolder, { recursive: true });
  const known = new Set(store.list(PODS).items.map(({ metadata }) => metadata.uid));
  const stray = (await readdir(podsFolder)).filter((uid) => !known.has(uid));
  await Promise.all(stray.map((uid) => removePodFolder(podsFolder, uid)));
};
