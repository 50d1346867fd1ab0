import {
  createController,
  createInformer,
  deployments,
  done,
  keyOf,
  NotFoundError,
  objectKeyOf,
  parseKey,
  pods,
  source,
  type Deployment,
  type Logger,
  type Pod,
} from "@sless/kube";
import type { FakeKubeClient } from "@sless/kube/testing";

/** What becomes of the pods of a Deployment. */
export type Fate =
  | { readonly kind: "ready" }
  | { readonly kind: "starting" }
  /** At most so many pods may exist; the quota refuses the rest. */
  | { readonly kind: "quota"; readonly room: number }
  | { readonly kind: "status"; readonly status: NonNullable<Pod["status"]> };

export interface FakeKubelet {
  /** Decides the fate of the pods of a Deployment by its name; ready unless said otherwise. */
  setFate(deployment: string, fate: Fate): void;
  /** Fate of Deployments that were given none. */
  setFateOfAll(fate: Fate): void;
  /** Lets these Deployments have no more than so many pods together, as a ResourceQuota does. */
  shareQuota(deployments: readonly string[], pods: number): void;
  run(signal: AbortSignal): Promise<void>;
}

const READY: Fate = { kind: "ready" };

const readyStatus: NonNullable<Pod["status"]> = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True" }],
};
const startingStatus: NonNullable<Pod["status"]> = {
  phase: "Pending",
  conditions: [{ type: "Ready", status: "False" }],
};

const statusOf = (fate: Fate): NonNullable<Pod["status"]> => {
  if (fate.kind === "status") return fate.status;
  return fate.kind === "starting" ? startingStatus : readyStatus;
};

const quotaMessage = 'pods "x" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=1, limited: pods=1';

/** Plays Kubernetes' Deployment controller, scheduler and kubelet on a fake API server, as far as conditions depend on them. */
export const createFakeKubelet = (client: FakeKubeClient, logger: Logger): FakeKubelet => {
  const informer = createInformer<Deployment>({ client, resource: deployments, logger });
  const fates = new Map<string, Fate>();
  let usual: Fate = READY;
  let shared: { readonly deployments: readonly string[]; readonly pods: number } | undefined;

  /** Pods that a quota leaves to a Deployment. */
  const roomOf = (name: string, fate: Fate): number => {
    if (fate.kind === "quota") return fate.room;
    if (!shared?.deployments.includes(name)) return Infinity;
    const others = shared.deployments.filter((other) => other !== name);
    return shared.pods - others.reduce((sum, other) => sum + podsOf(other).length, 0);
  };

  const podsOf = (deployment: string): Pod[] =>
    client.objects(pods).filter(({ metadata }) => metadata.name?.startsWith(`${deployment}-pod-`));

  const removePods = async (gone: readonly Pod[]): Promise<void> => {
    for (const pod of gone) await client.delete(pods, objectKeyOf(pod));
  };

  const setPod = async (live: Deployment, index: number, fate: Fate): Promise<void> => {
    const key = { name: `${live.metadata.name}-pod-${index}`, namespace: live.metadata.namespace };
    if (!client.objects(pods).some(({ metadata }) => metadata.name === key.name)) {
      const labels = live.spec?.template.metadata?.labels;
      await client.create(pods, { metadata: { ...key, labels } });
    }
    await client.patchStatus(pods, key, statusOf(fate));
  };

  const setStatus = async (live: Deployment, wanted: number, refused: boolean): Promise<void> => {
    const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: quotaMessage };
    const status = {
      observedGeneration: live.metadata.generation,
      replicas: wanted,
      updatedReplicas: wanted,
      conditions: refused ? [failure] : [],
    };
    try {
      await client.patchStatus(deployments, objectKeyOf(live), status);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error; // Deleted meanwhile: its event comes next.
    }
  };

  const reconcile = async (key: string) => {
    const live = informer.get(key);
    const name = parseKey(key).name;
    const fate = fates.get(name) ?? usual;
    const wanted = live?.spec?.replicas ?? 0;
    const count = Math.min(wanted, roomOf(name, fate));
    await removePods(podsOf(name).slice(count));
    if (!live) {
      wakeSharers(name);
      return done();
    }
    for (let index = 0; index < count; index++) await setPod(live, index, fate);
    await setStatus(live, wanted, count < wanted);
    wakeSharers(name);
    return done();
  };

  const controller = createController({ name: "fake-kubelet", sources: [source(informer)], reconcile, logger });
  const wake = (name: string): void => {
    const live = client.objects(deployments).find(({ metadata }) => metadata.name === name);
    const has = podsOf(name).length;
    if (live && has < Math.min(live.spec?.replicas ?? 0, roomOf(name, fates.get(name) ?? usual)))
      controller.enqueue(keyOf(live));
  };
  const wakeSharers = (name: string): void => shared?.deployments.filter((other) => other !== name).forEach(wake);
  return {
    setFate: (deployment, fate) => {
      fates.set(deployment, fate);
      const live = client.objects(deployments).find(({ metadata }) => metadata.name === deployment);
      if (live) controller.enqueue(keyOf(live));
    },
    setFateOfAll: (fate) => {
      usual = fate;
      for (const live of client.objects(deployments)) controller.enqueue(keyOf(live));
    },
    shareQuota: (names, count) => {
      shared = { deployments: names, pods: count };
    },
    run: async (signal) => {
      await Promise.all([informer.run(signal), controller.run(signal)]);
    },
  };
};

/** Status of a pod whose code does not load, after so many restarts. */
export const loadErrorStatus = (message: string, restarts: number): NonNullable<Pod["status"]> => ({
  phase: "Running",
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [
    {
      name: "function",
      image: "",
      imageID: "",
      ready: false,
      restartCount: restarts,
      state: { terminated: { exitCode: 1, message: JSON.stringify({ reason: "LoadError", message }) } },
    },
  ],
});
