import { digestOfArtifactKey, FunctionSpec, type Function, type RuntimeEntry, type Tenant } from "@sless/contracts";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";

const MAX_ISSUES = 5;

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The first issues of a spec that a schema refused, each with the field's path. */
export const listIssues = (issues: readonly Issue[]): string =>
  issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `spec${path.map((part) => `.${String(part)}`).join("")}: ${message}`)
    .join("; ");

/** Reads a spec that anyone may have written by kubectl, past an older CRD even. */
export const parseFunctionSpec = (fn: Function): FunctionSpec | Problem => {
  const parsed = FunctionSpec.safeParse(fn.spec);
  return parsed.success ? parsed.data : problem("InvalidSpec", listIssues(parsed.error.issues));
};

/** Why a function of this tenant can't be worked on yet; undefined when it can. */
export const tenantProblem = (tenant: Tenant | undefined, namespace: string): Problem | undefined => {
  if (!tenant) return problem("TenantNotReady", `${namespace} belongs to no Tenant, so nothing in it is run`);
  if (tenant.metadata.deletionTimestamp) return problem("Terminating", "the tenant is being deleted");
  if (isTrue(conditionOf(tenant, "Ready"))) return undefined;
  const why = conditionOf(tenant, "Ready")?.message;
  return problem("TenantNotReady", why ? `the tenant is not ready: ${why}` : "the tenant's namespaces are being made");
};

/**
 * The digest of the code that the Function names. Only the very key that the platform makes for this tenant and uid is
 * taken, whoever wrote it (security 3).
 */
export const findCode = (fn: Function): { readonly digest: string } | Problem => {
  const { s3Key } = fn.spec;
  if (!s3Key) return problem("NoCode", "no code yet; upload a zip");
  const digest = digestOfArtifactKey(s3Key, fn.metadata.namespace ?? "", fn.metadata.uid ?? "");
  if (digest !== undefined) return { digest };
  return problem("InvalidArtifactKey", "spec.s3Key is not a key of this function's code; upload the code again");
};

/** The runtime's entry in the catalogue, when it can run here. */
export const findRuntime = (name: string, catalogue: readonly RuntimeEntry[]): RuntimeEntry | Problem => {
  const entry = catalogue.find((candidate) => candidate.name === name);
  if (!entry) {
    const known = catalogue.map((candidate) => candidate.name).join(", ");
    return problem("RuntimeUnknown", `there is no runtime ${name}; there are: ${known}`);
  }
  if (entry.unavailable === undefined) return entry;
  return problem("RuntimeUnavailable", `runtime ${name} can't run here: ${entry.unavailable}`);
};

/** Tells a decision's refusal from its answer. */
export const isProblem = (value: object): value is Problem => "reason" in value && "message" in value;
