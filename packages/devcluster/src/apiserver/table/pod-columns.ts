import type { KubeObject } from "../../store/types.js";
import type { PrinterColumn } from "./columns.js";
import { humanAge } from "./duration.js";
import { at, listAt, numberAt, textAt } from "./read.js";

const statusOfContainer = (status: unknown): string | undefined => {
  const waiting = textAt(status, "state", "waiting", "reason");
  if (waiting) return waiting;
  const terminated = at(status, "state", "terminated");
  if (!terminated) return undefined;
  const reason = textAt(terminated, "reason");
  if (reason) return reason;
  const signal = numberAt(terminated, "signal");
  return signal ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, "exitCode")}`;
};

const isReady = (pod: KubeObject): boolean =>
  listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");

const FINAL_WORDS = ["Succeeded", "Failed", "Completed"];

const reasonOf = (pod: KubeObject): string => {
  const containers = listAt(pod, "status", "containerStatuses");
  // The first container that has something to say is the one that is shown.
  const [told] = containers.map(statusOfContainer).filter((word) => word !== undefined);
  const reason = told ?? (textAt(pod, "status", "reason") || textAt(pod, "status", "phase"));
  const runs = containers.some((status) => at(status, "state", "running") !== undefined);
  if (reason !== "Completed" || !runs) return reason;
  return isReady(pod) ? "Running" : "NotReady";
};

/** One word for a pod, worked out as kubectl's printer does from its containers. */
const podStatus = (pod: KubeObject): string => {
  const reason = reasonOf(pod);
  return pod.metadata.deletionTimestamp && !FINAL_WORDS.includes(reason) ? "Terminating" : reason;
};

const restarts = (pod: KubeObject, now: number): string => {
  const statuses = listAt(pod, "status", "containerStatuses");
  const count = statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const last = statuses
    .map((status) => textAt(status, "lastState", "terminated", "finishedAt"))
    .filter(Boolean)
    .sort()
    .at(-1);
  return count > 0 && last ? `${count} (${humanAge(last, now)} ago)` : String(count);
};

const ready = (pod: KubeObject): string => {
  const statuses = listAt(pod, "status", "containerStatuses");
  const total = listAt(pod, "spec", "containers").length;
  return `${statuses.filter((status) => status["ready"] === true).length}/${total}`;
};

const orNone = (text: string): string => text || "<none>";

export const POD_COLUMNS: readonly PrinterColumn[] = [
  {
    name: "Ready",
    type: "string",
    description: "The aggregate readiness state of this pod for accepting traffic.",
    priority: 0,
    cell: ready,
  },
  {
    name: "Status",
    type: "string",
    description: "The aggregate status of the containers in this pod.",
    priority: 0,
    cell: podStatus,
  },
  {
    name: "Restarts",
    type: "string",
    description:
      "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
    priority: 0,
    cell: restarts,
  },
  {
    name: "Age",
    type: "string",
    description: "Time since creation.",
    priority: 0,
    cell: (pod, now) => humanAge(pod.metadata.creationTimestamp, now),
  },
  {
    name: "IP",
    type: "string",
    description: "Address of the pod.",
    priority: 1,
    cell: (pod) => orNone(textAt(pod, "status", "podIP")),
  },
  {
    name: "Node",
    type: "string",
    description: "Node that the pod runs on.",
    priority: 1,
    cell: (pod) => orNone(textAt(pod, "spec", "nodeName")),
  },
  {
    name: "Nominated Node",
    type: "string",
    description: "Node that pods are preempted on for this one.",
    priority: 1,
    cell: (pod) => orNone(textAt(pod, "status", "nominatedNodeName")),
  },
  {
    name: "Readiness Gates",
    type: "string",
    description: "Further conditions that make the pod ready.",
    priority: 1,
    cell: (pod) => (listAt(pod, "spec", "readinessGates").length > 0 ? "0/1" : "<none>"),
  },
];
