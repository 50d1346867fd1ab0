import { FUNCTIONS, LABELS, TENANTS, TRIGGERS, workloadNamespace, type Tenant } from "@sless/contracts";
import {
  configMaps,
  done,
  namespaces,
  NotFoundError,
  objectKeyOf,
  requeueAfter,
  type KubeObject,
  type ReconcileResult,
  type Resource,
} from "@sless/kube";
import { releaseFinalizer } from "../finalizers.js";
import { problem, type Problem } from "../status/condition-set.js";
import { findNamespace, type TenantDeps } from "./deps.js";
import { isOwnNamespace } from "./policy.js";
import { createTenantDraft, makeTenantStatus, markTerminating } from "./status.js";

/** Namespaces go when Kubernetes has emptied them, which no watch of ours may show for an unmarked one. */
const RECHECK_MS = 5_000;

const remove = async <T extends KubeObject>(resource: Resource<T>, object: T, deps: TenantDeps): Promise<void> => {
  if (object.metadata.deletionTimestamp) return;
  try {
    await deps.client.delete(resource, objectKeyOf(object), { uid: object.metadata.uid });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
};

/** Triggers and Functions first: their finalizers need the namespaces, the registry and the store. */
const removeResources = async (tenant: Tenant, deps: TenantDeps): Promise<Problem | undefined> => {
  const { name } = tenant.metadata;
  const triggers = deps.caches.triggers.byIndex("namespace", name);
  const functions = deps.caches.functions.byIndex("namespace", name);
  for (const trigger of triggers) await remove(TRIGGERS, trigger, deps);
  for (const fn of functions) await remove(FUNCTIONS, fn, deps);
  const left = triggers.length + functions.length + deps.caches.versions.byIndex("namespace", name).length;
  if (left === 0) return undefined;
  const stuck = functions.map(({ status }) => status?.message).find((message) => message !== undefined);
  return problem("Terminating", `removing ${left} resource(s)${stuck ? `: ${stuck}` : ""}`);
};

const removeClaims = async (tenant: Tenant, deps: TenantDeps): Promise<void> => {
  for (const claim of deps.caches.hostClaims.byIndex("tenant", tenant.metadata.name)) {
    if (claim.metadata.labels?.[LABELS.tenant] === tenant.metadata.name) await remove(configMaps, claim, deps);
  }
};

/** Deletes the namespaces that bear this tenant's mark, and no other whatever its name (security 7). */
const removeNamespaces = async (tenant: Tenant, deps: TenantDeps): Promise<Problem | undefined> => {
  const left: string[] = [];
  for (const name of [workloadNamespace(tenant.metadata.name), tenant.metadata.name]) {
    const namespace = await findNamespace(name, deps);
    if (!namespace || !isOwnNamespace(namespace, tenant)) continue;
    await remove(namespaces, namespace, deps);
    left.push(name);
  }
  return left.length === 0 ? undefined : problem("Terminating", `namespaces are being deleted: ${left.join(", ")}`);
};

/** Removes everything of a tenant, in the order in which finalizers can still work. */
export const finalizeTenant = async (
  tenant: Tenant,
  deps: TenantDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  signal.throwIfAborted();
  let why = await removeResources(tenant, deps);
  if (!why) {
    await removeClaims(tenant, deps);
    why = await removeNamespaces(tenant, deps);
  }
  if (!why) {
    await releaseFinalizer(deps.client, TENANTS, tenant);
    return done();
  }
  const draft = createTenantDraft();
  markTerminating(draft, why);
  await deps.writeStatus(TENANTS, tenant, makeTenantStatus(tenant, draft, new Date(deps.clock.now()).toISOString()));
  return requeueAfter(RECHECK_MS);
};
