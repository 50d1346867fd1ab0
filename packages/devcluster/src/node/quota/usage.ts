import type { ClusterStore, KubeObject, NewKubeObject, ResourceRef } from "../../store/types.js";
import { PODS, type Container, type Pod, type Quantities } from "../objects.js";
import { formatQuantity, parseQuantity } from "../quantity.js";

/** What a quota can bound: a number of objects, or what pods ask for. */
export interface Measure {
  /** Kind of object that counts. */
  type: ResourceRef;
  /** How much of it one object takes, in base units (objects, cores, bytes). */
  amountOf: (object: KubeObject | NewKubeObject) => number;
  /** Objects that do not say how much they need name the containers to blame; such are refused. */
  silentOf: (object: KubeObject | NewKubeObject) => string[];
}

/** Kinds that a quota may name without `count/`. */
const PLAIN_COUNTS = new Set(["configmaps", "secrets", "services", "resourcequotas"]);

const countOf = (type: ResourceRef): Measure => ({ type, amountOf: () => 1, silentOf: () => [] });

/** Pods that are over hold nothing any more. */
const isLive = (pod: Pod): boolean => pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed";

interface Field {
  side: "requests" | "limits";
  name: string;
}

/** A limit without a request is a request of the same size, by the defaults of the API server. */
const quantityOf = ({ resources }: Container, { side, name }: Field): string | undefined =>
  resources?.[side]?.[name] ?? (side === "requests" ? resources?.limits?.[name] : undefined);

const askedBy = (field: Field): Measure => ({
  type: PODS,
  amountOf: (object) => {
    const pod = object as Pod;
    if (!isLive(pod)) return 0;
    return pod.spec.containers.reduce((sum, one) => sum + parseQuantity(quantityOf(one, field) ?? "0"), 0);
  },
  silentOf: (object) =>
    (object as Pod).spec.containers.filter((one) => quantityOf(one, field) === undefined).map(({ name }) => name),
});

/**
 * What a quota resource such as `pods`, `limits.memory` or `count/deployments.apps` measures.
 * @returns nothing for a resource that devcluster does not have (storage classes, GPUs)
 */
export const measureOf = (resource: string): Measure | undefined => {
  if (resource === "pods") return { ...countOf(PODS), amountOf: (pod) => Number(isLive(pod as Pod)) };
  if (PLAIN_COUNTS.has(resource)) return countOf({ group: "", plural: resource });
  const counted = /^count\/([a-z]+)(?:\.([a-z0-9.-]+))?$/.exec(resource);
  if (counted) return countOf({ group: counted[2] ?? "", plural: counted[1] ?? "" });
  // `memory` is short for `requests.memory`.
  const asked = /^(?:(requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.exec(resource);
  if (!asked) return undefined;
  return askedBy({ side: (asked[1] ?? "requests") as Field["side"], name: asked[2] ?? "" });
};

/** How much of a quota resource is used in a namespace; 0 of a kind that is not served. */
export const usedIn = (store: ClusterStore, namespace: string | undefined, { type, amountOf }: Measure): number => {
  const isServed = store.resourceTypes().some(({ group, plural }) => group === type.group && plural === type.plural);
  if (!isServed) return 0;
  return store.list(type, { namespace }).items.reduce((sum, object) => sum + amountOf(object), 0);
};

const unitOf = (resource: string): "count" | "cpu" | "memory" => {
  if (resource.endsWith("cpu")) return "cpu";
  return /(memory|storage)$/.test(resource) ? "memory" : "count";
};

export const formatAmount = (resource: string, value: number): string => formatQuantity(value, unitOf(resource));

/** `status.used` of a quota with these hard limits. */
export const makeUsed = (store: ClusterStore, namespace: string | undefined, hard: Quantities): Quantities =>
  Object.fromEntries(
    Object.keys(hard).flatMap((resource): [string, string][] => {
      const measure = measureOf(resource);
      return measure ? [[resource, formatAmount(resource, usedIn(store, namespace, measure))]] : [];
    }),
  );
