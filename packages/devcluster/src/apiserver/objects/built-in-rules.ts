import type { KubeObject, ResourceType } from "../../store/types.js";
import { DEFINITION_RULES } from "../crd/definition-rules.js";
import { namedSchema, schemaName } from "../schema/built-in.js";
import { normaliseBuiltIn } from "../schema/defaults.js";
import { prune } from "../schema/prune.js";
import type { Schema } from "../schema/schema.js";
import {
  CONFIG_MAP_RULES,
  ENDPOINT_SLICE_RULES,
  LEASE_RULES,
  NAMESPACE_RULES,
  SECRET_RULES,
  SERVICE_RULES,
} from "./built-in/config-rules.js";
import { POD_RULES } from "./built-in/pod-rules.js";
import { CRON_JOB_RULES, DEPLOYMENT_RULES, JOB_RULES, REPLICA_SET_RULES } from "./built-in/workload-rules.js";
import { assertDecodable } from "./decode.js";
import type { KindRules } from "./kind-rules.js";
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

const FURTHER_RULES: Readonly<Record<string, Partial<KindRules>>> = {
  CustomResourceDefinition: DEFINITION_RULES,
  Deployment: DEPLOYMENT_RULES,
  ReplicaSet: REPLICA_SET_RULES,
  Job: JOB_RULES,
  CronJob: CRON_JOB_RULES,
  Pod: POD_RULES,
  Namespace: NAMESPACE_RULES,
  Secret: SECRET_RULES,
  ConfigMap: CONFIG_MAP_RULES,
  Service: SERVICE_RULES,
  Lease: LEASE_RULES,
  EndpointSlice: ENDPOINT_SLICE_RULES,
};

const NOT_ENFORCED: Readonly<Record<string, string>> = {
  NetworkPolicy: "pods are processes of this machine and reach whatever it reaches",
  Ingress: "no ingress controller runs; the platform's own listener serves hosts",
  LimitRange: "nothing is limited or defaulted by it",
  Role: "there is one user, who may do everything",
  RoleBinding: "there is one user, who may do everything",
};

/** Objects of these kinds are kept for those who look for them, and writers are told that nothing comes of them. */
const warningFor = (kind: string): string | undefined =>
  NOT_ENFORCED[kind] && `the embedded cluster keeps a ${kind} but does not enforce it: ${NOT_ENFORCED[kind]}`;

const prepareWith =
  (type: ResourceType, schema: Schema, further: KindRules["prepare"]) =>
  (draft: KubeObject): void => {
    assertDecodable(draft, type, schema);
    prune(draft, schema);
    normaliseBuiltIn(draft, schema);
    further?.(draft);
  };

/** The rules of a kind in the resource table. */
export const makeBuiltInRules = (type: ResourceType): KindRules => {
  const schema = namedSchema(schemaName(type.group, type.version, type.kind));
  const further = FURTHER_RULES[type.kind];
  const warning = warningFor(type.kind);
  return {
    schema,
    nameRule: NAME_RULES[type.kind] ?? "subdomain",
    statusIsSubresource: type.subresources.includes("status"),
    countsGeneration: COUNTED.has(type.kind),
    ...further,
    ...(warning === undefined ? {} : { warning }),
    prepare: prepareWith(type, schema, further?.prepare),
  };
};
