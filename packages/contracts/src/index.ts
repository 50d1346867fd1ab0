export {
  API_GROUP,
  API_GROUP_VERSION,
  API_VERSION,
  artifactKey,
  artifactPrefix,
  defaultHost,
  DEFAULT_SYSTEM_NAMESPACE,
  digestOfArtifactKey,
  hostClaimName,
  isCodeDigest,
  isTenantNamespace,
  NAME_MAX_LENGTH,
  NAME_PATTERN,
  tenantHash,
  tenantNamespace,
  tenantOfWorkloadNamespace,
  tenantShort,
  versionName,
  workloadNamespace,
  type TenantIdentity,
} from "./names.js";
export { ANNOTATIONS, FIELD_MANAGERS, FINALIZER, LABELS } from "./labels.js";
export { LIMITS } from "./limits.js";
export { cpuRequest, mebibytes, parseQuantity } from "./quantities.js";
export {
  Condition,
  CONDITION_TYPES,
  Conditions,
  isLastingReason,
  REASONS,
  type ConditionType,
  type Reason,
} from "./conditions.js";
export type { KubeObject, ObjectMeta, OwnerReference, ResourceType, SpecObject } from "./kube-object.js";
export { canonicalHost, isWithinDomain } from "./host.js";
export {
  CALLER_AUDIENCE,
  CallerClaims,
  CODE_DIR,
  FaultBody,
  FUNCTION_CONTAINER,
  HEADERS,
  HOP_BY_HOP_HEADERS,
  PLATFORM_HEADER_PREFIX,
  POD_ENV,
  PORT_NAMES,
  PORTS,
  RESERVED_ENV_NAMES,
  RESERVED_ENV_PREFIXES,
  RUNTIME_DIR,
  RUNTIME_FAULTS,
  RuntimeLogLine,
  TerminationMessage,
  type RuntimeFault,
} from "./runtime-protocol.js";
export {
  CodeDigest,
  Entrypoint,
  Env,
  envBytes,
  Name,
  refuseEnvName,
  RuntimeName,
  Scale,
  Traffic,
  TrafficTarget,
} from "./resources/fields.js";
export { type Tenant, TENANTS, TenantSpec, TenantStatus } from "./resources/tenant.js";
export {
  ActiveTarget,
  FUNCTION_PHASES,
  type Function,
  FUNCTIONS,
  FunctionSpec,
  FunctionStatus,
  type FunctionPhase,
} from "./resources/function.js";
export {
  Build,
  FUNCTION_VERSIONS,
  type FunctionVersion,
  FunctionVersionSpec,
  FunctionVersionStatus,
  VERSION_PHASES,
  type VersionPhase,
} from "./resources/function-version.js";
export {
  HTTP_METHODS,
  HttpTrigger,
  type Trigger,
  TRIGGER_PHASES,
  TRIGGER_TYPES,
  TRIGGERS,
  TriggerSpec,
  TriggerStatus,
  type TriggerPhase,
} from "./resources/trigger.js";
export {
  GATEWAY_REPORTS,
  type GatewayReport,
  GatewayReportStatus,
  REPORTED_VERSIONS_MAX,
} from "./resources/gateway-report.js";
export { CUSTOM_RESOURCES, type CustomResource, type PrinterColumn } from "./crd/custom-resources.js";
export { makeCrd } from "./crd/make-crd.js";
export { makeOpenApi } from "./rest/openapi/make-openapi.js";
export { OPERATIONS, type Operation } from "./rest/openapi/operations.js";
export { PROBLEM_TEXTS } from "./rest/problem-texts.js";
export { FieldError, makeProblem, Problem, PROBLEM_KINDS, type ProblemKind } from "./rest/problem.js";
export {
  CreateFunction,
  FunctionBody,
  FunctionSettings,
  LogLine,
  PatchFunction,
  RollbackRequest,
  RollbackResult,
  UploadResult,
  VersionBody,
} from "./rest/functions.js";
export { CreateTrigger, PatchTrigger, TriggerBody, TriggerSettings } from "./rest/triggers.js";
export {
  DeleteNamespaceQuery,
  ListQuery,
  LogsQuery,
  page,
  RuntimeBody,
  UploadQuery,
  WAIT_FOR,
  WaitQuery,
  WhoAmI,
} from "./rest/common.js";
export {
  API_VARIABLES,
  CONTROLLER_VARIABLES,
  GATEWAY_VARIABLES,
  RuntimeCatalogue,
  RuntimeEntry,
  type ApiConfig,
  type ControllerConfig,
  type GatewayConfig,
} from "./config/apps.js";
export { ConfigError, didYouMean, parseEnv } from "./config/parse-env.js";
export type { Address, ConfigOf, Variable, Variables } from "./config/variables.js";
