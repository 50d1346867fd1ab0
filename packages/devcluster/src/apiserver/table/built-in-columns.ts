import type { KubeObject } from "../../store/types.js";
import type { PrinterColumn } from "./columns.js";
import { humanAge, humanDuration } from "./duration.js";
import { POD_COLUMNS } from "./pod-columns.js";
import { at, listAt, numberAt, textAt, textsAt } from "./read.js";

type Cell = PrinterColumn["cell"];

const column = (
  name: string,
  cell: Cell,
  { type = "string", wide = false }: { type?: PrinterColumn["type"]; wide?: boolean } = {},
): PrinterColumn => ({ name, type, description: "", priority: wide ? 1 : 0, cell });

const NAME: PrinterColumn = {
  ...column("Name", (object) => object.metadata.name),
  format: "name",
  description: "Name must be unique within a namespace.",
};
const AGE = column("Age", (object, now) => humanAge(object.metadata.creationTimestamp, now));
const CREATED_AT = column("Created At", (object) => object.metadata.creationTimestamp, { type: "date" });

const entries = (value: unknown): [string, unknown][] =>
  value !== null && typeof value === "object" ? Object.entries(value) : [];
const countKeys = (value: unknown): number => entries(value).length;
const orNone = (text: string): string => text || "<none>";

/** `a=b,c in (d)` of a label selector object. */
const formatSelector = (selector: unknown): string => {
  const labels = entries(at(selector, "matchLabels")).map(([key, value]) => `${key}=${String(value)}`);
  const expressions = listAt(selector, "matchExpressions").map((expression) => {
    const values = textsAt(expression, "values").join(",");
    return `${textAt(expression, "key")} ${textAt(expression, "operator").toLowerCase()} (${values})`;
  });
  return orNone([...labels, ...expressions].sort().join(","));
};

const WORKLOAD_DETAILS = (template: readonly string[], selector: readonly string[]): PrinterColumn[] => [
  column(
    "Containers",
    (object) =>
      listAt(object, ...template, "spec", "containers")
        .map((container) => textAt(container, "name"))
        .join(","),
    { wide: true },
  ),
  column(
    "Images",
    (object) =>
      listAt(object, ...template, "spec", "containers")
        .map((container) => textAt(container, "image"))
        .join(","),
    { wide: true },
  ),
  column("Selector", (object) => formatSelector(at(object, ...selector)), { wide: true }),
];

const jobStatus = (job: KubeObject): string => {
  const holds = (type: string) =>
    listAt(job, "status", "conditions").some((found) => found["type"] === type && found["status"] === "True");
  const word = ["Complete", "Failed", "Suspended", "FailureTarget"].find(holds);
  if (word) return word;
  return job.metadata.deletionTimestamp ? "Terminating" : "Running";
};

const jobDuration: Cell = (job, now) => {
  const start = textAt(job, "status", "startTime");
  if (!start) return "";
  const end = textAt(job, "status", "completionTime");
  return humanDuration(((end ? Date.parse(end) : now) - Date.parse(start)) / 1000);
};

const jobCompletions: Cell = (job) => {
  const succeeded = numberAt(job, "status", "succeeded");
  const wanted = at(job, "spec", "completions");
  return `${succeeded}/${typeof wanted === "number" ? wanted : "1"}`;
};

const servicePorts: Cell = (service) => {
  const ports = listAt(service, "spec", "ports").map((port) => {
    const nodePort = textAt(port, "nodePort");
    return `${textAt(port, "port")}${nodePort && `:${nodePort}`}/${textAt(port, "protocol")}`;
  });
  return orNone(ports.join(","));
};

const nodeStatus: Cell = (node) => {
  const ready = listAt(node, "status", "conditions").find(({ type }) => type === "Ready");
  const word = ready?.["status"] === "True" ? "Ready" : ready ? "NotReady" : "Unknown";
  return at(node, "spec", "unschedulable") === true ? `${word},SchedulingDisabled` : word;
};

const nodeAddress =
  (type: string): Cell =>
  (node) =>
    orNone(
      textAt(
        listAt(node, "status", "addresses").find((address) => address["type"] === type),
        "address",
      ),
    );

const eventObject: Cell = (event) =>
  `${textAt(event, "involvedObject", "kind").toLowerCase()}/${textAt(event, "involvedObject", "name")}`;

const lastSeen = (event: KubeObject): string =>
  textAt(event, "series", "lastObservedTime") ||
  textAt(event, "lastTimestamp") ||
  textAt(event, "eventTime") ||
  (event.metadata.creationTimestamp ?? "");

const firstSeen = (event: KubeObject): string =>
  textAt(event, "firstTimestamp") || textAt(event, "eventTime") || (event.metadata.creationTimestamp ?? "");

const subjects =
  (kind: string): Cell =>
  (binding) =>
    listAt(binding, "subjects")
      .filter((subject) => subject["kind"] === kind)
      .map((subject) =>
        kind === "ServiceAccount"
          ? `${textAt(subject, "namespace")}/${textAt(subject, "name")}`
          : textAt(subject, "name"),
      )
      .join(", ");

const BY_KIND: Readonly<Record<string, readonly PrinterColumn[]>> = {
  Namespace: [column("Status", (ns) => textAt(ns, "status", "phase")), AGE],
  Node: [
    column("Status", nodeStatus),
    column("Roles", () => "<none>"),
    AGE,
    column("Version", (node) => textAt(node, "status", "nodeInfo", "kubeletVersion")),
    column("Internal-IP", nodeAddress("InternalIP"), { wide: true }),
    column("External-IP", nodeAddress("ExternalIP"), { wide: true }),
    column("OS-Image", (node) => textAt(node, "status", "nodeInfo", "osImage") || "<unknown>", { wide: true }),
    column("Kernel-Version", (node) => textAt(node, "status", "nodeInfo", "kernelVersion") || "<unknown>", {
      wide: true,
    }),
    column(
      "Container-Runtime",
      (node) => textAt(node, "status", "nodeInfo", "containerRuntimeVersion") || "<unknown>",
      { wide: true },
    ),
  ],
  Pod: POD_COLUMNS,
  Service: [
    column("Type", (service) => textAt(service, "spec", "type")),
    column("Cluster-IP", (service) => orNone(textAt(service, "spec", "clusterIP"))),
    column("External-IP", () => "<none>"),
    column("Port(s)", servicePorts),
    AGE,
    column("Selector", (service) => formatSelector({ matchLabels: at(service, "spec", "selector") }), { wide: true }),
  ],
  Secret: [
    column("Type", (secret) => textAt(secret, "type")),
    column("Data", (secret) => countKeys(secret["data"])),
    AGE,
  ],
  ConfigMap: [column("Data", (map) => countKeys(map["data"]) + countKeys(map["binaryData"])), AGE],
  ServiceAccount: [column("Secrets", (account) => listAt(account, "secrets").length), AGE],
  ResourceQuota: [
    column("Request", (quota) =>
      entries(at(quota, "status", "hard"))
        .map(([name, hard]) => `${name}: ${textAt(quota, "status", "used", name)}/${String(hard)}`)
        .join(", "),
    ),
    column("Limit", () => ""),
    AGE,
  ],
  LimitRange: [CREATED_AT],
  Deployment: [
    column("Ready", (d) => `${numberAt(d, "status", "readyReplicas")}/${numberAt(d, "spec", "replicas")}`),
    column("Up-to-date", (d) => numberAt(d, "status", "updatedReplicas")),
    column("Available", (d) => numberAt(d, "status", "availableReplicas")),
    AGE,
    ...WORKLOAD_DETAILS(["spec", "template"], ["spec", "selector"]),
  ],
  ReplicaSet: [
    column("Desired", (rs) => numberAt(rs, "spec", "replicas"), { type: "integer" }),
    column("Current", (rs) => numberAt(rs, "status", "replicas"), { type: "integer" }),
    column("Ready", (rs) => numberAt(rs, "status", "readyReplicas"), { type: "integer" }),
    AGE,
    ...WORKLOAD_DETAILS(["spec", "template"], ["spec", "selector"]),
  ],
  Job: [
    column("Status", jobStatus),
    column("Completions", jobCompletions),
    column("Duration", jobDuration),
    AGE,
    ...WORKLOAD_DETAILS(["spec", "template"], ["spec", "selector"]),
  ],
  CronJob: [
    column("Schedule", (job) => textAt(job, "spec", "schedule")),
    column("Timezone", (job) => orNone(textAt(job, "spec", "timeZone"))),
    column("Suspend", (job) => (at(job, "spec", "suspend") === true ? "True" : "False"), { type: "boolean" }),
    column("Active", (job) => listAt(job, "status", "active").length, { type: "integer" }),
    column("Last Schedule", (job, now) => {
      const last = textAt(job, "status", "lastScheduleTime");
      return last ? humanAge(last, now) : "<none>";
    }),
    AGE,
    ...WORKLOAD_DETAILS(["spec", "jobTemplate", "spec", "template"], ["spec", "jobTemplate", "spec", "selector"]),
  ],
  Lease: [column("Holder", (lease) => textAt(lease, "spec", "holderIdentity")), AGE],
  EndpointSlice: [
    column("AddressType", (slice) => textAt(slice, "addressType")),
    column("Ports", (slice) =>
      listAt(slice, "ports").length === 0
        ? "<unset>"
        : listAt(slice, "ports")
            .map(({ port }) => String(port))
            .join(","),
    ),
    column("Endpoints", (slice) =>
      listAt(slice, "endpoints").length === 0
        ? "<unset>"
        : listAt(slice, "endpoints")
            .flatMap((endpoint) => textsAt(endpoint, "addresses"))
            .join(","),
    ),
    AGE,
  ],
  Ingress: [
    column("Class", (ingress) => orNone(textAt(ingress, "spec", "ingressClassName"))),
    column(
      "Hosts",
      (ingress) =>
        listAt(ingress, "spec", "rules")
          .map((rule) => textAt(rule, "host") || "*")
          .join(",") || "*",
    ),
    column("Address", () => ""),
    column("Ports", (ingress) => (listAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80")),
    AGE,
  ],
  NetworkPolicy: [column("Pod-Selector", (policy) => formatSelector(at(policy, "spec", "podSelector"))), AGE],
  Role: [CREATED_AT],
  RoleBinding: [
    column("Role", (binding) => `${textAt(binding, "roleRef", "kind")}/${textAt(binding, "roleRef", "name")}`),
    AGE,
    column("Users", subjects("User"), { wide: true }),
    column("Groups", subjects("Group"), { wide: true }),
    column("ServiceAccounts", subjects("ServiceAccount"), { wide: true }),
  ],
  CustomResourceDefinition: [CREATED_AT],
};

const EVENT_COLUMNS: readonly PrinterColumn[] = [
  column("Last Seen", (event, now) => humanAge(lastSeen(event), now)),
  column("Type", (event) => textAt(event, "type")),
  column("Reason", (event) => textAt(event, "reason")),
  column("Object", eventObject),
  column("Subobject", (event) => textAt(event, "involvedObject", "fieldPath"), { wide: true }),
  column("Source", (event) => textAt(event, "source", "component") || textAt(event, "reportingComponent"), {
    wide: true,
  }),
  column("Message", (event) => textAt(event, "message").trim()),
  column("First Seen", (event, now) => humanAge(firstSeen(event), now), { wide: true }),
  column("Count", (event) => numberAt(event, "series", "count") || numberAt(event, "count") || 1, { wide: true }),
  { ...NAME, priority: 1 },
];

/** The columns that kubectl shows for a built-in kind; name and age for any other. */
export const builtInColumns = (kind: string): readonly PrinterColumn[] =>
  kind === "Event" ? EVENT_COLUMNS : [NAME, ...(BY_KIND[kind] ?? [AGE])];
