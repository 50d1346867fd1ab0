import type { ResourceRef, ResourceType, Subresource, Verb } from "../store/types.js";

/** Every verb of a kind that is stored. */
export const ALL_VERBS: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

interface Row {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced?: false;
  shortNames?: readonly string[];
  categories?: readonly string[];
  subresources?: readonly Subresource[];
  verbs?: readonly Verb[];
}

const makeType = (row: Row): ResourceType => ({
  group: row.group,
  version: row.version,
  kind: row.kind,
  listKind: `${row.kind}List`,
  plural: row.plural,
  singular: row.kind.toLowerCase(),
  namespaced: row.namespaced ?? true,
  shortNames: row.shortNames ?? [],
  categories: row.categories ?? [],
  verbs: row.verbs ?? ALL_VERBS,
  subresources: row.subresources ?? [],
});

const ROWS: readonly Row[] = [
  {
    group: "",
    version: "v1",
    kind: "Namespace",
    plural: "namespaces",
    namespaced: false,
    shortNames: ["ns"],
    subresources: ["status"],
    verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  },
  {
    group: "",
    version: "v1",
    kind: "Node",
    plural: "nodes",
    namespaced: false,
    shortNames: ["no"],
    subresources: ["status"],
  },
  {
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    subresources: ["log", "status"],
  },
  {
    group: "",
    version: "v1",
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    subresources: ["status"],
  },
  { group: "", version: "v1", kind: "Secret", plural: "secrets" },
  { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"] },
  { group: "", version: "v1", kind: "Event", plural: "events", shortNames: ["ev"] },
  { group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", shortNames: ["sa"] },
  {
    group: "",
    version: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    shortNames: ["quota"],
    subresources: ["status"],
  },
  { group: "", version: "v1", kind: "LimitRange", plural: "limitranges", shortNames: ["limits"] },
  {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    subresources: ["scale", "status"],
  },
  {
    group: "apps",
    version: "v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    subresources: ["scale", "status"],
  },
  {
    group: "batch",
    version: "v1",
    kind: "Job",
    plural: "jobs",
    categories: ["all"],
    subresources: ["status"],
  },
  {
    group: "batch",
    version: "v1",
    kind: "CronJob",
    plural: "cronjobs",
    shortNames: ["cj"],
    categories: ["all"],
    subresources: ["status"],
  },
  { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases" },
  { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices" },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "Ingress",
    plural: "ingresses",
    shortNames: ["ing"],
    subresources: ["status"],
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    shortNames: ["netpol"],
  },
  { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles" },
  { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings" },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    subresources: ["status"],
  },
];

/** What this cluster serves, beside the custom resources that are declared in it. What is not here is refused. */
export const BUILT_IN_TYPES: readonly ResourceType[] = ROWS.map(makeType);

const BUILT_IN = new Set(BUILT_IN_TYPES.map(({ group, plural }) => `${plural}.${group}`));

export const isBuiltIn = ({ group, plural }: ResourceRef): boolean => BUILT_IN.has(`${plural}.${group}`);

/** References to built-in types, for code that reads and writes them in-process. */
export const RESOURCES = {
  namespaces: { group: "", plural: "namespaces" },
  nodes: { group: "", plural: "nodes" },
  pods: { group: "", plural: "pods" },
  services: { group: "", plural: "services" },
  secrets: { group: "", plural: "secrets" },
  configMaps: { group: "", plural: "configmaps" },
  events: { group: "", plural: "events" },
  serviceAccounts: { group: "", plural: "serviceaccounts" },
  resourceQuotas: { group: "", plural: "resourcequotas" },
  deployments: { group: "apps", plural: "deployments" },
  replicaSets: { group: "apps", plural: "replicasets" },
  jobs: { group: "batch", plural: "jobs" },
  cronJobs: { group: "batch", plural: "cronjobs" },
  leases: { group: "coordination.k8s.io", plural: "leases" },
  endpointSlices: { group: "discovery.k8s.io", plural: "endpointslices" },
  customResourceDefinitions: { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" },
} as const satisfies Record<string, ResourceRef>;
