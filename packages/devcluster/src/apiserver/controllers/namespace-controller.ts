import type { ClusterStore, KubeObject, ResourceType } from "../../store/types.js";
import { RESOURCES } from "../resource-table.js";

const isStored = ({ namespaced, verbs }: ResourceType): boolean => namespaced && verbs.includes("delete");

/** Deletes what is in a namespace; answers how many objects something still holds. */
const emptyNamespace = (store: ClusterStore, namespace: string): number => {
  let left = 0;
  for (const type of store.resourceTypes().filter(isStored)) {
    for (const { metadata } of store.list(type, { namespace }).items) {
      if (!metadata.deletionTimestamp)
        store.delete(type, namespace, metadata.name, { propagationPolicy: "Background" });
      if (store.get(type, namespace, metadata.name)) left++;
    }
  }
  return left;
};

const finalize = (store: ClusterStore, namespace: KubeObject): void => {
  store.update(RESOURCES.namespaces, { ...namespace, spec: { finalizers: [] } });
};

/** Every namespace has a service account `default`, as its pods name it. */
const ensureDefaultAccount = (store: ClusterStore, namespace: string): void => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
  // Events come later than what they tell of: it may be gone or going by now.
  const found = store.get(RESOURCES.namespaces, undefined, namespace);
  if (!found || found.metadata.deletionTimestamp) return;
  if (!store.get(RESOURCES.serviceAccounts, namespace, "default")) store.create(RESOURCES.serviceAccounts, account);
};

/**
 * Empties namespaces that are being deleted and lets them go once nothing is left in them,
 * as kube-controller-manager's namespace controller does.
 * @returns stops it
 */
export const startNamespaceController = (store: ClusterStore): (() => void) => {
  const terminating = new Map<string, (() => void)[]>();
  const settle = (name: string): void => {
    const namespace = store.get(RESOURCES.namespaces, undefined, name);
    if (!namespace?.metadata.deletionTimestamp) return forget(name);
    if (emptyNamespace(store, name) === 0) finalize(store, namespace);
  };
  const forget = (name: string): void => {
    for (const stop of terminating.get(name) ?? []) stop();
    terminating.delete(name);
  };
  const take = (name: string): void => {
    if (terminating.has(name)) return;
    const onGone = ({ type }: { type: string }) => type === "DELETED" && settle(name);
    const { resourceVersion } = store.list(RESOURCES.namespaces);
    const watches = store
      .resourceTypes()
      .filter(isStored)
      .map((type) => store.watch(type, { namespace: name, resourceVersion }, onGone));
    terminating.set(name, watches);
    settle(name);
  };
  const stopWatch = store.watch(RESOURCES.namespaces, {}, ({ type, object }) => {
    const { name, deletionTimestamp } = object.metadata;
    if (type === "DELETED") forget(name);
    else if (deletionTimestamp) take(name);
    else ensureDefaultAccount(store, name);
  });
  return () => {
    stopWatch();
    for (const name of [...terminating.keys()]) forget(name);
  };
};
