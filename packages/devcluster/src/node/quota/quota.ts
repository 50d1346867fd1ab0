import { forbidden } from "../../store/api-status-error.js";
import type { ClusterStore, NewKubeObject } from "../../store/types.js";
import { PODS, RESOURCE_QUOTAS, type Pod, type ResourceQuota } from "../objects.js";
import { parseQuantity } from "../quantity.js";
import { formatAmount, isPodResource, podUsage, silentContainers, type Usage } from "./usage.js";

const countsForQuota = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** A quota with scopes binds only some pods; devcluster counts none under it rather than the wrong ones. */
const bindsPods = ({ spec }: ResourceQuota): boolean => !spec?.scopes?.length && !spec?.scopeSelector;

const podResourcesOf = (quota: ResourceQuota): string[] => Object.keys(quota.spec?.hard ?? {}).filter(isPodResource);

/** What the pods of a namespace take of the resources that a quota bounds. */
export const usageOf = (store: ClusterStore, quota: ResourceQuota): Usage => {
  const pods = store.list(PODS, { namespace: quota.metadata.namespace }).items as readonly Pod[];
  const counted = pods.filter(countsForQuota);
  return new Map(
    podResourcesOf(quota).map((resource) => {
      // `count/pods` counts objects, those that are over too.
      const of = resource === "count/pods" ? pods : counted;
      return [resource, of.reduce((sum, pod) => sum + podUsage(pod, resource), 0)] as const;
    }),
  );
};

const join = (resources: readonly string[], amounts: (resource: string) => number): string =>
  resources.map((resource) => `${resource}=${formatAmount(resource, amounts(resource))}`).join(",");

const checkQuota = (store: ClusterStore, quota: ResourceQuota, pod: Pod): string | undefined => {
  const { hard = {} } = quota.spec ?? {};
  const resources = podResourcesOf(quota).sort();
  const silent = resources.filter((resource) => silentContainers(pod, resource).length > 0);
  if (silent.length > 0) {
    const wants = silent.map((resource) => `${resource} for: ${silentContainers(pod, resource).join(",")}`);
    return `failed quota: ${quota.metadata.name}: must specify ${wants.join("; ")}`;
  }
  const used = usageOf(store, quota);
  const limit = (resource: string) => parseQuantity(hard[resource] ?? "0");
  const usedOf = (resource: string) => used.get(resource) ?? 0;
  const over = resources.filter((resource) => usedOf(resource) + podUsage(pod, resource) > limit(resource));
  if (over.length === 0) return undefined;
  const requested = join(over, (resource) => podUsage(pod, resource));
  return `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${join(over, usedOf)}, limited: ${join(over, limit)}`;
};

/**
 * Admission of a new pod by the quotas of its namespace. The store has no gaps between calls, so a check followed by
 * the create in the same turn cannot be overtaken.
 * @throws ApiStatusError 403 Forbidden in the words of kube-apiserver
 */
export const admitPod = (store: ClusterStore, pod: NewKubeObject | Pod): void => {
  const quotas = store.list(RESOURCE_QUOTAS, { namespace: pod.metadata.namespace }).items as readonly ResourceQuota[];
  for (const quota of quotas.filter(bindsPods)) {
    const refusal = checkQuota(store, quota, pod as Pod);
    if (refusal !== undefined) throw forbidden(PODS, pod.metadata.name ?? pod.metadata.generateName ?? "", refusal);
  }
};
