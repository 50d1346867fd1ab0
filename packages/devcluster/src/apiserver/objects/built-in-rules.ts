import type { KubeObject, ResourceType } from "../../store/types.js";
import { DEFINITION_RULES } from "../crd/definition-rules.js";
import { namedSchema, schemaName } from "../schema/built-in.js";
import type { KindRules, ScalePaths } from "./kind-rules.js";
import type { NameRule } from "./names.js";

const NAME_RULES: Readonly<Record<string, NameRule>> = {
  Namespace: "label",
  Service: "label1035",
  Role: "pathSegment",
  RoleBinding: "pathSegment",
};

/** Kinds whose generation counts, beside those of custom resources. */
const COUNTED = new Set([
  "Pod",
  "Deployment",
  "ReplicaSet",
  "Job",
  "CronJob",
  "EndpointSlice",
  "Ingress",
  "NetworkPolicy",
  "CustomResourceDefinition",
]);

const DEFAULT_GRACE_SECONDS = 30;

/** A pod that a node has taken is removed by its kubelet; any other at once. */
const podGracePeriod = (pod: KubeObject, requested: number | undefined): number => {
  const spec = pod["spec"] as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
  const phase = (pod["status"] as { phase?: string } | undefined)?.phase;
  if (!spec?.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
};

const prepareNamespace = (draft: KubeObject): void => {
  draft["spec"] = { finalizers: ["kubernetes"] };
  draft["status"] = { phase: "Active" };
  draft.metadata.labels = { ...draft.metadata.labels, "kubernetes.io/metadata.name": draft.metadata.name };
};

const REPLICA_PATHS: ScalePaths = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  labelSelector: ["spec", "selector"],
};

const FURTHER_RULES: Readonly<Record<string, Partial<KindRules>>> = {
  CustomResourceDefinition: DEFINITION_RULES,
  Deployment: { scale: REPLICA_PATHS },
  ReplicaSet: { scale: REPLICA_PATHS },
  Pod: { gracePeriod: podGracePeriod },
  Namespace: { prepareForCreate: prepareNamespace },
};

/** The rules of a kind in the resource table. */
export const makeBuiltInRules = (type: ResourceType): KindRules => ({
  schema: namedSchema(schemaName(type.group, type.version, type.kind)),
  nameRule: NAME_RULES[type.kind] ?? "subdomain",
  statusIsSubresource: type.subresources.includes("status"),
  countsGeneration: COUNTED.has(type.kind),
  ...FURTHER_RULES[type.kind],
});
