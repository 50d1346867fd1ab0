import { ApiStatusError } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import {
  conditionOf,
  keyOf,
  PODS,
  REPLICA_SETS,
  RESOURCE_QUOTAS,
  splitKey,
  withCondition,
  type Condition,
  type Pod,
  type ReplicaSet,
} from "../objects.js";
import { itself, itsOwner, startController, type Controller, type ControllerDeps } from "./controller.js";
import { createPodFrom, isActive, isPodReady, msUntilAvailable, podsOf } from "./pod-control.js";
import type { WorkQueue } from "./work-queue.js";

/** The least useful pod first: not ready before ready, then the youngest. */
const byUse = (a: Pod, b: Pod): number => {
  const ready = Number(isPodReady(a)) - Number(isPodReady(b));
  return ready || Date.parse(b.metadata.creationTimestamp ?? "") - Date.parse(a.metadata.creationTimestamp ?? "");
};

const failureCondition = (error: ApiStatusError): Condition => ({
  type: "ReplicaFailure",
  status: "True",
  reason: "FailedCreate",
  message: error.message,
});

const conditionsAfter = (set: ReplicaSet, failure: ApiStatusError | undefined, now: number): Condition[] => {
  const before = set.status?.conditions ?? [];
  if (failure) return withCondition(before, failureCondition(failure), now);
  return before.filter(({ type }) => type !== "ReplicaFailure");
};

const failsToCreate = (set: ReplicaSet): boolean => conditionOf(set.status?.conditions, "ReplicaFailure") !== undefined;

/** Keeps as many pods of a template as a ReplicaSet asks for. */
export const startReplicaSetController = (deps: ControllerDeps): Controller => {
  const { store, events, nodeName } = deps;

  /** What a quota refused may be let in once the quota or what counts under it has changed. */
  const refusedNearby = ({ metadata }: KubeObject): string[] =>
    (store.list(REPLICA_SETS, { namespace: metadata.namespace }).items as readonly ReplicaSet[])
      .filter(failsToCreate)
      .map(keyOf);

  const scale = (set: ReplicaSet, active: Pod[]): ApiStatusError | undefined => {
    const missing = (set.spec.replicas ?? 1) - active.length;
    for (const pod of active.sort(byUse).slice(0, Math.max(0, -missing))) {
      store.delete(PODS, pod.metadata.namespace, pod.metadata.name, { uid: pod.metadata.uid });
      events.record(set, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
    }
    for (let i = 0; i < missing; i++) {
      try {
        const pod = createPodFrom(store, set, { template: set.spec.template, nodeName });
        events.record(set, "Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
      } catch (error) {
        if (!(error instanceof ApiStatusError)) throw error;
        events.record(set, "Warning", "FailedCreate", `Error creating: ${error.message}`);
        return error;
      }
    }
    return undefined;
  };

  const writeStatus = (set: ReplicaSet, failure: ApiStatusError | undefined, queue: WorkQueue): void => {
    const now = Date.now();
    const active = podsOf(store, set).filter(isActive);
    const waits = active.map((pod) => msUntilAvailable(pod, set.spec.minReadySeconds ?? 0, now));
    const soon = waits.filter((ms): ms is number => ms !== undefined && ms > 0);
    if (soon.length > 0) queue.addAfter(keyOf(set), Math.min(...soon));
    const conditions = conditionsAfter(set, failure, now);
    const status: ReplicaSet["status"] = {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: active.filter(isPodReady).length,
      availableReplicas: waits.filter((ms) => ms === 0).length,
      observedGeneration: set.metadata.generation ?? 0,
      ...(conditions.length > 0 ? { conditions } : {}),
    };
    const current = store.get(REPLICA_SETS, set.metadata.namespace, set.metadata.name);
    if (current?.metadata.uid !== set.metadata.uid || !current) return;
    store.update(REPLICA_SETS, { ...current, status }, { subresource: "status" });
  };

  const rules = [
    { type: REPLICA_SETS, keysOf: itself },
    { type: PODS, keysOf: itsOwner("ReplicaSet") },
    { type: PODS, keysOf: refusedNearby },
    { type: RESOURCE_QUOTAS, keysOf: refusedNearby },
  ];
  return startController(deps, "replica-set", rules, (queue) => (key) => {
    const { namespace, name } = splitKey(key);
    const set = store.get(REPLICA_SETS, namespace, name) as ReplicaSet | undefined;
    if (!set || set.metadata.deletionTimestamp) return;
    const failure = scale(set, podsOf(store, set).filter(isActive));
    writeStatus(set, failure, queue);
  });
};
