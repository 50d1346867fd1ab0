import { LABELS } from "@sless/contracts";
import {
  createController,
  createInformer,
  deployments,
  done,
  NotFoundError,
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
  run(signal: AbortSignal): Promise<void>;
}

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

  const podsOf = (deployment: string): Pod[] =>
    client.objects(pods).filter(({ metadata }) => metadata.name?.startsWith(`${deployment}-pod-`));

  const setPods = async (live: Deployment, fate: Fate): Promise<void> => {
    const { name = "", namespace = "" } = live.metadata;
    const wanted = live.spec?.replicas ?? 0;
    const count = fate.kind === "quota" ? Math.min(wanted, fate.room) : wanted;
    for (const pod of podsOf(name).slice(count))
      await client.delete(pods, { name: pod.metadata.name ?? "", namespace });
    for (let index = 0; index < count; index++) {
      const key = { name: `${name}-pod-${index}`, namespace };
      if (!client.objects(pods).some(({ metadata }) => metadata.name === key.name)) {
        const labels = live.spec?.template.metadata?.labels ?? {};
        await client.create(pods, { metadata: { ...key, labels } });
      }
      await client.patchStatus(pods, key, statusOf(fate));
    }
  };

  const reconcile = async (key: string) => {
    const live = informer.get(key);
    const name = key.split("/")[1] ?? "";
    if (!live) {
      for (const { metadata } of podsOf(name)) {
        await client.delete(pods, { name: metadata.name ?? "", namespace: metadata.namespace });
      }
      return done();
    }
    const fate = fates.get(name) ?? { kind: "ready" };
    await setPods(live, fate);
    const refused = fate.kind === "quota" && fate.room < (live.spec?.replicas ?? 0);
    const status = {
      observedGeneration: live.metadata.generation ?? 1,
      replicas: live.spec?.replicas ?? 0,
      updatedReplicas: live.spec?.replicas ?? 0,
      conditions: refused
        ? [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: quotaMessage }]
        : [],
    };
    try {
      await client.patchStatus(deployments, { name, namespace: live.metadata.namespace }, status);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error; // Deleted meanwhile: its event comes next.
    }
    return done();
  };

  const controller = createController({ name: "fake-kubelet", sources: [source(informer)], reconcile, logger });
  return {
    setFate: (deployment, fate) => {
      fates.set(deployment, fate);
      for (const { metadata } of client.objects(deployments)) {
        if (metadata.name === deployment) controller.enqueue(`${metadata.namespace}/${metadata.name}`);
      }
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

/** Label by which a workload object is a version's. */
export const uidLabel = LABELS.versionUid;
