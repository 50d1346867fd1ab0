import { randomInt } from "node:crypto";
import type { ClusterStore, KubeObject } from "../../store/types.js";
import { conditionOf, ownerReferenceTo, PODS, type Pod, type PodTemplate } from "../objects.js";

/** No vowels, so that no words come about; as apimachinery's names have it. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const MAX_BASE = 57;

export const randomSuffix = (length = 5): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");

export const isTerminal = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** Counts for its controller: neither going nor over. */
export const isActive = (pod: Pod): boolean => !pod.metadata.deletionTimestamp && !isTerminal(pod);

export const isPodReady = (pod: Pod): boolean => conditionOf(pod.status?.conditions, "Ready")?.status === "True";

/** Ms until a ready pod has been so for `minReadySeconds`; 0 when it has, undefined when it is not ready. */
export const msUntilAvailable = (pod: Pod, minReadySeconds: number, now: number): number | undefined => {
  const ready = conditionOf(pod.status?.conditions, "Ready");
  if (ready?.status !== "True") return undefined;
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? "") + minReadySeconds * 1000 - now);
};

/** Pods of a namespace that an object controls. */
export const podsOf = (store: ClusterStore, owner: KubeObject): Pod[] => {
  const pods = store.list(PODS, { namespace: owner.metadata.namespace }).items as readonly Pod[];
  return pods.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === owner.metadata.uid),
  );
};

/**
 * Makes a pod from a template, owned and already bound to the node.
 * @throws ApiStatusError 403 in the words of the quota when there is no room
 */
export const createPodFrom = (
  store: ClusterStore,
  owner: KubeObject,
  { template, nodeName }: { template: PodTemplate; nodeName: string },
): Pod => {
  const { labels, annotations } = template.metadata ?? {};
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${owner.metadata.name.slice(0, MAX_BASE)}-${randomSuffix()}`,
      ...(owner.metadata.namespace ? { namespace: owner.metadata.namespace } : {}),
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    spec: { ...structuredClone(template.spec), nodeName },
  } satisfies Pod;
  return store.create(PODS, pod) as Pod;
};
