import { TENANTS, TenantSpec, type Tenant } from "@sless/contracts";
import {
  AlreadyExistsError,
  ConflictError,
  done,
  namespaces,
  NotLeadingError,
  type Namespace,
  type Reconcile,
  type ReconcileResult,
} from "@sless/kube";
import { ensureFinalizer } from "../finalizers.js";
import { listIssues } from "../function/code.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import { findNamespace, type TenantDeps } from "./deps.js";
import { finalizeTenant } from "./finalize.js";
import { namespaceProblem, tenantNameProblem } from "./policy.js";
import { makeNamespaces } from "./resources/namespaces.js";
import { createTenantDraft, makeTenantStatus, markBlocked, markNamespacesReady } from "./status.js";

/** Makes one namespace as it shall be. It is created, never applied, when absent: an apply could adopt a foreign one. */
const reconcileNamespace = async (
  desired: Namespace,
  tenant: Tenant,
  deps: TenantDeps,
): Promise<Problem | undefined> => {
  const name = desired.metadata.name ?? "";
  const live = await findNamespace(name, deps);
  if (!live) {
    try {
      await deps.client.create(namespaces, desired);
      return undefined;
    } catch (error) {
      if (error instanceof AlreadyExistsError) return problem("Pending", `namespace ${name} has just appeared`);
      throw error;
    }
  }
  const why = namespaceProblem(live, tenant);
  if (!why) await deps.applier.apply(namespaces, desired, { live });
  return why;
};

const reconcileNamespaces = async (tenant: Tenant, deps: TenantDeps): Promise<Problem | undefined> => {
  const parsed = TenantSpec.safeParse(tenant.spec);
  if (!parsed.success) return problem("InvalidSpec", listIssues(parsed.error.issues));
  const misnamed = tenantNameProblem(tenant);
  if (misnamed) return misnamed;
  for (const desired of makeNamespaces(tenant, deps.installation)) {
    const why = await reconcileNamespace(desired, tenant, deps);
    if (why) return why;
  }
  return undefined;
};

/** Reconciles one Tenant: its namespaces stand, marked and walled, before anything of it runs. */
export const createTenantReconcile =
  (deps: TenantDeps): Reconcile =>
  async (key, { signal }): Promise<ReconcileResult> => {
    const cached = deps.caches.tenants.get(key);
    if (!cached) return done();
    if (cached.metadata.deletionTimestamp) return finalizeTenant(structuredClone(cached), deps, signal);
    const tenant = await ensureFinalizer(deps.client, TENANTS, structuredClone(cached));
    const draft = createTenantDraft();
    const finish = (): Promise<Tenant> => {
      const time = new Date(deps.clock.now()).toISOString();
      return deps.writeStatus(TENANTS, tenant, makeTenantStatus(tenant, draft, time));
    };
    try {
      const why = await reconcileNamespaces(tenant, deps);
      if (why) markBlocked(draft, why);
      else markNamespacesReady(draft);
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotLeadingError) throw error;
      // A fault of the platform does not make a tenant unready whose namespaces stood: its triggers would go dark.
      const wasReady = isTrue(conditionOf(tenant, "Ready"));
      if (!wasReady) markBlocked(draft, problem("InternalError", `will be tried again: ${String(error)}`));
      await finish();
      throw error;
    }
    await finish();
    return done();
  };
