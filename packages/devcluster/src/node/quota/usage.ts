import type { Container, Pod, Quantities } from "../objects.js";
import { formatQuantity, parseQuantity } from "../quantity.js";

/** Amounts by quota resource name, in base units (pods, cores, bytes). */
export type Usage = Map<string, number>;

const unitOf = (resource: string): "count" | "cpu" | "memory" => {
  if (resource.endsWith("cpu")) return "cpu";
  return /(memory|storage)$/.test(resource) ? "memory" : "count";
};

export const formatAmount = (resource: string, value: number): string => formatQuantity(value, unitOf(resource));

export const formatUsage = (usage: Usage): Quantities =>
  Object.fromEntries([...usage].map(([resource, value]) => [resource, formatAmount(resource, value)]));

/** Where a quota resource is found in a container: `memory` is short for `requests.memory`. */
const fieldOf = (resource: string): { side: "requests" | "limits"; name: string } | undefined => {
  const match = /^(?:(requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.exec(resource);
  if (!match) return undefined;
  return { side: (match[1] ?? "requests") as "requests" | "limits", name: match[2] ?? "" };
};

/** A limit without a request is a request of the same size, by the defaults of the API server. */
const amountOf = (container: Container, field: { side: "requests" | "limits"; name: string }): string | undefined =>
  container.resources?.[field.side]?.[field.name] ??
  (field.side === "requests" ? container.resources?.limits?.[field.name] : undefined);

/** Whether a quota resource counts pods or what they ask for. */
export const isPodResource = (resource: string): boolean =>
  resource === "pods" || resource === "count/pods" || fieldOf(resource) !== undefined;

/** How much of a quota resource a pod takes. */
export const podUsage = (pod: Pod, resource: string): number => {
  const field = fieldOf(resource);
  if (!field) return 1;
  return pod.spec.containers.reduce((sum, container) => sum + parseQuantity(amountOf(container, field) ?? "0"), 0);
};

/** Containers that do not say how much they need of a resource that a quota bounds. */
export const silentContainers = (pod: Pod, resource: string): string[] => {
  const field = fieldOf(resource);
  if (!field) return [];
  return pod.spec.containers.filter((container) => amountOf(container, field) === undefined).map(({ name }) => name);
};
