import type { z } from "zod";
import type { ResourceType } from "../kube-object.js";
import { NAME_MAX_LENGTH, NAME_PATTERN } from "../names.js";
import { FUNCTION_VERSIONS, FunctionVersionSpec, FunctionVersionStatus } from "../resources/function-version.js";
import { FUNCTIONS, FunctionSpec, FunctionStatus } from "../resources/function.js";
import { GATEWAY_REPORTS, GatewayReportStatus } from "../resources/gateway-report.js";
import { TENANTS, TenantSpec, TenantStatus } from "../resources/tenant.js";
import { TRIGGERS, TriggerSpec, TriggerStatus } from "../resources/trigger.js";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 show only with `-o wide`. */
  readonly priority?: number;
}

export interface CustomResource {
  readonly type: ResourceType;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec?: z.ZodType;
  readonly status: z.ZodType;
  readonly statusSubresource: boolean;
  readonly columns: readonly PrinterColumn[];
  /** CEL on the object's name. */
  readonly nameRule?: { readonly rule: string; readonly message: string };
}

const ready: PrinterColumn = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
};
const reason: PrinterColumn = {
  name: "Reason",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
};
const message: PrinterColumn = { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 };
const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

const nameRule = {
  rule: `self.metadata.name.size() <= ${NAME_MAX_LENGTH} && self.metadata.name.matches('${NAME_PATTERN}')`,
  message: `the name must be 1–${NAME_MAX_LENGTH} lower-case letters, digits and single dashes, starting with a letter`,
};

/** Every kind of sless: what the CRDs are generated from. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [
  {
    type: TENANTS,
    singular: "tenant",
    shortNames: ["tnt"],
    description: "A customer: the owner of a namespace for its resources and one for its code.",
    spec: TenantSpec,
    status: TenantStatus,
    statusSubresource: true,
    columns: [
      { name: "Subject", type: "string", jsonPath: ".spec.owner.subject" },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      ready,
      reason,
      message,
      age,
    ],
  },
  {
    type: FUNCTIONS,
    singular: "function",
    shortNames: ["fn"],
    description: "A function: a handler, its settings, and which of its versions take calls.",
    spec: FunctionSpec,
    status: FunctionStatus,
    statusSubresource: true,
    nameRule,
    columns: [
      { name: "Runtime", type: "string", jsonPath: ".spec.runtime" },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      ready,
      reason,
      { name: "Latest", type: "integer", jsonPath: ".status.latestVersion" },
      { name: "Serving", type: "integer", jsonPath: ".status.traffic[0].version" },
      { name: "URL", type: "string", jsonPath: ".status.url" },
      message,
      age,
    ],
  },
  {
    type: FUNCTION_VERSIONS,
    singular: "functionversion",
    shortNames: ["fnv"],
    description: "A numbered snapshot of a function's code and settings. Made by the controller alone.",
    spec: FunctionVersionSpec,
    status: FunctionVersionStatus,
    statusSubresource: true,
    columns: [
      { name: "Function", type: "string", jsonPath: ".spec.functionName" },
      { name: "Version", type: "integer", jsonPath: ".spec.version" },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      ready,
      reason,
      { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
      { name: "Image", type: "string", jsonPath: ".status.image", priority: 1 },
      message,
      age,
    ],
  },
  {
    type: TRIGGERS,
    singular: "trigger",
    shortNames: ["trg"],
    description: "What calls a function.",
    spec: TriggerSpec,
    status: TriggerStatus,
    statusSubresource: true,
    nameRule,
    columns: [
      { name: "Function", type: "string", jsonPath: ".spec.functionRef.name" },
      { name: "Type", type: "string", jsonPath: ".spec.type" },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      ready,
      reason,
      { name: "URL", type: "string", jsonPath: ".status.url" },
      message,
      age,
    ],
  },
  {
    type: GATEWAY_REPORTS,
    singular: "gatewayreport",
    shortNames: ["gwr"],
    description: "What one gateway replica has applied and which calls it carries.",
    status: GatewayReportStatus,
    statusSubresource: false,
    columns: [
      { name: "Observed", type: "string", jsonPath: ".status.observedResourceVersion" },
      { name: "Renewed", type: "date", jsonPath: ".status.renewTime" },
      age,
    ],
  },
];
