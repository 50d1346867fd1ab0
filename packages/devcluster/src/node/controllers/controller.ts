import { ApiStatusError } from "../../store/api-status-error.js";
import type { ClusterStore, KubeObject, ResourceRef } from "../../store/types.js";
import type { EventRecorder } from "../kubelet/events.js";
import { controllerOf, keyOf } from "../objects.js";
import { createWorkQueue, type WorkQueue } from "./work-queue.js";

export interface ControllerDeps {
  store: ClusterStore;
  events: EventRecorder;
  /** Whom pods are bound to as they are made. */
  nodeName: string;
  onError: (controller: string, key: string, error: unknown) => void;
}

export interface Controller {
  close(): Promise<void>;
}

export interface WatchRule {
  type: ResourceRef;
  /** Keys (`namespace/name`) to look at when this object comes, changes or goes. */
  keysOf: (object: KubeObject) => string[];
}

/** The object itself. */
export const itself = (object: KubeObject): string[] => [keyOf(object)];

/** Whoever controls it, when that is of this kind. */
export const itsOwner =
  (kind: string) =>
  (object: KubeObject): string[] => {
    const owner = controllerOf(object);
    return owner?.kind === kind ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
  };

/** Conflicts and races with deletions are part of the trade: the key is looked at again, nobody is told. */
const isRace = (error: unknown): boolean =>
  error instanceof ApiStatusError && (error.code === 409 || error.code === 404);

/** Wires watches to a queue and the queue to a reconcile function. */
export const startController = (
  { store, onError }: ControllerDeps,
  name: string,
  rules: readonly WatchRule[],
  makeReconcile: (queue: WorkQueue) => (key: string) => void | Promise<void>,
): Controller => {
  const queue = createWorkQueue({
    reconcile: (key) => reconcile(key),
    onError: (key, error) => {
      if (!isRace(error)) onError(name, key, error);
    },
  });
  const reconcile = makeReconcile(queue);
  const unwatch = rules.map(({ type, keysOf }) =>
    store.watch(type, {}, ({ object }) => {
      for (const key of keysOf(object)) queue.add(key);
    }),
  );
  return {
    close() {
      for (const end of unwatch) end();
      return queue.close();
    },
  };
};
