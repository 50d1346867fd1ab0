import { createHash } from "node:crypto";
import { PORTS_ANNOTATION } from "../kubelet/addresses.js";
import { ownerReferenceTo, type Pod, type Service } from "../objects.js";
import type { KubeObject } from "../../store/types.js";
import { isPodReady, isTerminal } from "./pod-control.js";

interface SlicePort {
  name: string;
  port: number;
  protocol: string;
}

/** The rule of Kubernetes for one slice. */
const MAX_ENDPOINTS = 100;

const matches = (selector: Readonly<Record<string, string>>, pod: Pod): boolean =>
  Object.entries(selector).every(([key, value]) => pod.metadata.labels?.[key] === value);

/** The pods behind a service that have an address and are not over, in a fixed order. */
export const podsBehind = (service: Service, pods: readonly Pod[]): Pod[] => {
  const selector = service.spec?.selector;
  if (!selector || Object.keys(selector).length === 0) return [];
  return pods
    .filter((pod) => pod.status?.podIP && !isTerminal(pod) && matches(selector, pod))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
};

const movedPorts = (pod: Pod): Record<string, number> => {
  const text = pod.metadata.annotations?.[PORTS_ANNOTATION];
  return text ? (JSON.parse(text) as Record<string, number>) : {};
};

const containerPort = (pod: Pod, target: number | string): number | undefined => {
  if (typeof target === "number") return target;
  const ports = pod.spec.containers.flatMap((container) => container.ports ?? []);
  return ports.find(({ name }) => name === target)?.containerPort;
};

/** Where each port of the service is on this pod: where ports are moved, or targets named, pods differ. */
const portsOf = (service: Service, pod: Pod): SlicePort[] => {
  const moved = movedPorts(pod);
  return (service.spec?.ports ?? []).flatMap(({ name = "", port, targetPort, protocol = "TCP" }): SlicePort[] => {
    const target = containerPort(pod, targetPort === undefined || targetPort === 0 ? port : targetPort);
    return target === undefined ? [] : [{ name, port: moved[target] ?? target, protocol }];
  });
};

const makeEndpoint = (service: Service, pod: Pod) => {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: {
      ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    nodeName: pod.spec.nodeName ?? "",
    targetRef: { kind: "Pod", namespace: pod.metadata.namespace, name: pod.metadata.name, uid: pod.metadata.uid },
  };
};

const makeSlice = (service: Service, key: string, { ports, pods }: { ports: SlicePort[]; pods: Pod[] }): KubeObject => {
  const { name, namespace = "", labels } = service.metadata;
  const suffix = createHash("sha256").update(key).digest("hex").slice(0, 8);
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: {
        ...labels,
        ...(service.spec?.clusterIP === "None" ? { "service.kubernetes.io/headless": "" } : {}),
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [ownerReferenceTo(service)],
    },
    addressType: "IPv4",
    endpoints: pods.map((pod) => makeEndpoint(service, pod)),
    ports,
  };
};

/**
 * The slices that a service shall have: one for each set of port numbers, in parts of a hundred endpoints. A service
 * whose pods are all gone keeps one empty slice, so that a watcher sees them go.
 */
export const makeEndpointSlices = (service: Service, pods: readonly Pod[]): KubeObject[] => {
  const groups = new Map<string, { ports: SlicePort[]; pods: Pod[] }>();
  for (const pod of podsBehind(service, pods)) {
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports.map(({ port }) => port));
    const group = groups.get(key) ?? { ports, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  if (groups.size === 0) return [makeSlice(service, "empty", { ports: [], pods: [] })];
  return [...groups].flatMap(([key, group]) => {
    const parts = Array.from({ length: Math.ceil(group.pods.length / MAX_ENDPOINTS) }, (_, i) =>
      group.pods.slice(i * MAX_ENDPOINTS, (i + 1) * MAX_ENDPOINTS),
    );
    return parts.map((part, i) => makeSlice(service, `${key}/${i}`, { ports: group.ports, pods: part }));
  });
};
