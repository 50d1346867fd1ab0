import { arch, cpus, hostname, release, totalmem } from "node:os";
import type { ClusterStore, KubeObject } from "../../store/types.js";
import { kubeTime, NODES, withCondition, type Condition } from "../objects.js";

export const MAX_PODS = 500;

const READY: Condition = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "kubelet is posting ready status",
};
const STOPPED: Condition = {
  type: "Ready",
  status: "False",
  reason: "NodeStopped",
  message: "devcluster is not running",
};

const statusOf = (condition: Condition, previous: KubeObject | undefined) => {
  const before = (previous?.["status"] as { conditions?: Condition[] } | undefined)?.conditions;
  const capacity = { cpu: String(cpus().length), memory: `${Math.floor(totalmem() / 1024)}Ki`, pods: String(MAX_PODS) };
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: hostname() },
    ],
    conditions: withCondition(before, condition, Date.now()),
    nodeInfo: {
      architecture: arch() === "x64" ? "amd64" : arch(),
      operatingSystem: process.platform,
      kernelVersion: release(),
      osImage: "processes of this machine, not isolated",
      containerRuntimeVersion: `process://${process.versions.node}`,
      kubeletVersion: "v1.35.0-devcluster",
      kubeProxyVersion: "",
      machineID: "",
      systemUUID: "",
      bootID: "",
    },
  };
};

/** Keeps the one Node object; made at the first start and marked when the node stops. */
export const createNodeObject = (store: ClusterStore, name: string) => {
  const write = (condition: Condition): void => {
    const existing =
      store.get(NODES, undefined, name) ??
      store.create(NODES, {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
        spec: { providerID: `devcluster://${name}` },
      });
    store.update(NODES, { ...existing, status: statusOf(condition, existing) }, { subresource: "status" });
  };
  return {
    markReady: () => write({ ...READY, lastUpdateTime: kubeTime(Date.now()) }),
    markStopped: () => write(STOPPED),
  };
};
