import { createHash } from "node:crypto";
import type { ClusterStore, KubeObject } from "../../store/types.js";
import {
  conditionOf,
  controllerOf,
  DEPLOYMENTS,
  isControlledBy,
  keyOf,
  ownerReferenceTo,
  PODS,
  REPLICA_SETS,
  splitKey,
  type Deployment,
  type PodTemplate,
  type ReplicaSet,
} from "../objects.js";
import { itself, itsOwner, startController, type Controller, type ControllerDeps } from "./controller.js";
import { makeDeploymentStatus, progressDeadline } from "./deployment-status.js";
import { podsOf } from "./pod-control.js";
import { planRecreate, planRollingUpdate, type ScalePlan } from "./rollout.js";

const HASH_LABEL = "pod-template-hash";
const REVISION = "deployment.kubernetes.io/revision";

/** JSON with sorted keys: the same template in another order of fields is the same. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const hashOf = (template: PodTemplate): string =>
  createHash("sha256").update(canonical(template)).digest("hex").slice(0, 10);

const revisionOf = (set: ReplicaSet): number => Number(set.metadata.annotations?.[REVISION] ?? 0);

const byRevision = (a: ReplicaSet, b: ReplicaSet): number => revisionOf(a) - revisionOf(b);

const makeReplicaSet = (deployment: Deployment, hash: string, revision: number): ReplicaSet => {
  const { template, selector, minReadySeconds } = deployment.spec;
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...(deployment.metadata.namespace ? { namespace: deployment.metadata.namespace } : {}),
      labels,
      annotations: { [REVISION]: String(revision) },
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
};

const setRevision = (store: ClusterStore, set: ReplicaSet, revision: number): ReplicaSet => {
  const annotations = { ...set.metadata.annotations, [REVISION]: String(revision) };
  return store.update(REPLICA_SETS, { ...set, metadata: { ...set.metadata, annotations } }) as ReplicaSet;
};

/** The set of the present template: found by its hash, or made. A template of old gets the newest revision. */
const ensureCurrent = (store: ClusterStore, deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet => {
  const hash = hashOf(deployment.spec.template);
  const existing = sets.find(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash);
  const newest = Math.max(0, ...sets.filter((set) => set !== existing).map(revisionOf));
  if (!existing) return store.create(REPLICA_SETS, makeReplicaSet(deployment, hash, newest + 1)) as ReplicaSet;
  return revisionOf(existing) > newest ? existing : setRevision(store, existing, newest + 1);
};

/** Old sets without pods beyond the kept history. */
const expiredSets = ({ spec }: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] => {
  const idle = old.filter((set) => (set.spec.replicas ?? 1) === 0 && (set.status?.replicas ?? 0) === 0);
  return idle.slice(0, Math.max(0, idle.length - (spec.revisionHistoryLimit ?? 10)));
};

/** Rolls Deployments out over ReplicaSets. */
export const startDeploymentController = (deps: ControllerDeps): Controller => {
  const { store, events } = deps;

  const setsOf = (deployment: Deployment): ReplicaSet[] =>
    (store.list(REPLICA_SETS, { namespace: deployment.metadata.namespace }).items as readonly ReplicaSet[])
      .filter((set) => isControlledBy(set, deployment) && !set.metadata.deletionTimestamp)
      .sort(byRevision);

  const plan = (deployment: Deployment, current: ReplicaSet, old: ReplicaSet[]): ScalePlan => {
    if (deployment.spec.paused) return new Map();
    if (deployment.spec.strategy?.type !== "Recreate") return planRollingUpdate(deployment, current, old);
    const oldPodsLeft = old.some((set) => podsOf(store, set).length > 0);
    return planRecreate(deployment, current, { old, oldPodsLeft });
  };
  const carryOut = (deployment: Deployment, steps: ScalePlan): void => {
    for (const [set, replicas] of steps) {
      const before = set.spec.replicas ?? 1;
      store.update(REPLICA_SETS, { ...set, spec: { ...set.spec, replicas } });
      const direction = replicas > before ? "up" : "down";
      const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`;
      events.record(deployment, "Normal", "ScalingReplicaSet", message);
    }
  };

  const noteRevision = (deployment: Deployment, current: ReplicaSet): void => {
    const revision = String(revisionOf(current));
    if (deployment.metadata.annotations?.[REVISION] === revision) return;
    const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
    store.update(DEPLOYMENTS, { ...deployment, metadata: { ...deployment.metadata, annotations } });
  };
  const writeStatus = (deployment: Deployment, current: ReplicaSet): Deployment | undefined => {
    const stored = store.get(DEPLOYMENTS, deployment.metadata.namespace, deployment.metadata.name) as Deployment;
    if (stored?.metadata.uid !== deployment.metadata.uid) return undefined;
    const sets = setsOf(stored);
    const newest = sets.find(({ metadata }) => metadata.uid === current.metadata.uid) ?? current;
    const status = makeDeploymentStatus(stored, { current: newest, sets, now: Date.now() });
    return store.update(DEPLOYMENTS, { ...stored, status }, { subresource: "status" }) as Deployment;
  };

  /** A Recreate waits for pods to be gone, which their ReplicaSet no longer counts while they end. */
  const deploymentOfGoingPod = (pod: KubeObject): string[] => {
    const owner = pod.metadata.deletionTimestamp ? controllerOf(pod) : undefined;
    const set = owner && store.get(REPLICA_SETS, pod.metadata.namespace, owner.name);
    return set ? itsOwner("Deployment")(set) : [];
  };
  const rules = [
    { type: PODS, keysOf: deploymentOfGoingPod },
    { type: DEPLOYMENTS, keysOf: itself },
    { type: REPLICA_SETS, keysOf: itsOwner("Deployment") },
  ];
  return startController(deps, "deployment", rules, (queue) => (key) => {
    const { namespace, name } = splitKey(key);
    const deployment = store.get(DEPLOYMENTS, namespace, name) as Deployment | undefined;
    if (!deployment || deployment.metadata.deletionTimestamp) return;
    const sets = setsOf(deployment);
    const current = ensureCurrent(store, deployment, sets);
    const old = sets.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
    noteRevision(deployment, current);
    carryOut(deployment, plan(deployment, current, old));
    for (const set of expiredSets(deployment, old)) {
      store.delete(REPLICA_SETS, namespace, set.metadata.name, { uid: set.metadata.uid });
    }
    const written = writeStatus(deployment, current);
    const progressing = conditionOf(written?.status?.conditions, "Progressing");
    const isMoving = progressing?.status === "True" && progressing.reason !== "NewReplicaSetAvailable";
    if (written && isMoving) queue.addAfter(keyOf(written), progressDeadline(written, progressing) - Date.now() + 1);
  });
};
