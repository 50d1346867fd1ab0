import { isLastingReason, isTenantNamespace, TENANTS, type Condition, type Tenant } from "@sless/contracts";
import { AlreadyExistsError, NotFoundError, type KubeClient } from "@sless/kube";
import type { Principal } from "../auth/principal.js";
import { Conflict, Forbidden, invalidField, NotFound, Unavailable } from "../errors.js";
import { awaitChange } from "../platform/await-change.js";
import type { ChangeSignals } from "../platform/change-signals.js";

export interface TenantsOptions {
  readonly kube: Pick<KubeClient, "get" | "create" | "delete">;
  /** The cached Tenant of a name, if there is one. */
  readonly cached: (name: string) => Tenant | undefined;
  readonly signals: ChangeSignals;
  /** Longest wait for a new tenant's namespaces. */
  readonly readyTimeoutMs: number;
}

export interface Tenants {
  /**
   * The namespace that a request names: `me`, the caller's own, or for an administrator any.
   * @throws Forbidden for another tenant's, in the same words whether it exists or not.
   */
  resolve(principal: Principal, segment: string): string;
  /** Checks that the namespace's tenant is the caller (its full hash), where it exists. A tenant not yet there has nothing. */
  forRead(principal: Principal, namespace: string): Promise<void>;
  /** The same, and makes the caller's Tenant on its first write, waiting until its namespaces are ready. */
  forWrite(principal: Principal, namespace: string, signal: AbortSignal): Promise<void>;
  /** Deletes a Tenant with everything in it. */
  remove(principal: Principal, namespace: string, confirmation: string | undefined): Promise<void>;
}

const conditionOf = (tenant: Tenant, type: string): Condition | undefined =>
  tenant.status?.conditions?.find((condition) => condition.type === type);

const isUsable = (tenant: Tenant): boolean => conditionOf(tenant, "NamespacesReady")?.status === "True";

const hasFailed = (tenant: Tenant): boolean => {
  const condition = conditionOf(tenant, "NamespacesReady");
  return condition?.status === "False" && isLastingReason(condition.reason);
};

const makeTenant = (principal: Principal): Tenant => ({
  apiVersion: `${TENANTS.group}/${TENANTS.version}`,
  kind: "Tenant",
  metadata: { name: principal.namespace },
  spec: { owner: { issuer: principal.issuer, subject: principal.subject }, hash: principal.hash, hosts: [] },
});

/** Sixteen hex digits of the hash name the tenant; all of it decides who it is (security 24). */
const refuseStranger = (principal: Principal, tenant: Tenant): void => {
  if (tenant.metadata.name === principal.namespace && tenant.spec.hash !== principal.hash) {
    throw new Forbidden("Your namespace's name is taken by somebody else. Ask the operator of the platform.");
  }
};

const refuseUnusable = (tenant: Tenant): void => {
  if (tenant.metadata.deletionTimestamp !== undefined) {
    throw new Conflict("The namespace is being deleted. Try again when it is gone.", "Terminating");
  }
  if (isUsable(tenant)) return;
  const why = conditionOf(tenant, "NamespacesReady");
  if (why && hasFailed(tenant)) throw new Conflict(`The namespace can't be set up: ${why.message}`, why.reason);
  throw new Unavailable("The namespace is still being set up. Try again in a few seconds.", 3);
};

/** Tenants as the API sees them: created by the first write, checked at every request, removed only when confirmed. */
export const createTenants = (options: TenantsOptions): Tenants => {
  const { kube, cached, signals, readyTimeoutMs } = options;

  const find = async (name: string): Promise<Tenant | undefined> => {
    try {
      return await kube.get(TENANTS, { name });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  };

  const create = async (principal: Principal): Promise<void> => {
    try {
      await kube.create(TENANTS, makeTenant(principal));
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
    }
  };

  const awaitUsable = (name: string, signal: AbortSignal): Promise<Tenant | undefined> =>
    awaitChange({
      signals,
      key: name,
      read: () => find(name),
      settled: (tenant) => tenant === undefined || isUsable(tenant) || hasFailed(tenant),
      timeoutMs: readyTimeoutMs,
      signal,
    });

  const require = async (namespace: string): Promise<Tenant> => {
    const tenant = cached(namespace) ?? (await find(namespace));
    if (!tenant) throw new NotFound(`There is no namespace ${namespace}.`);
    return tenant;
  };

  return {
    resolve: (principal, segment) => {
      if (segment === "me" || segment === principal.namespace) return principal.namespace;
      if (principal.admin && isTenantNamespace(segment)) return segment;
      throw new Forbidden(`Your token is for the namespace ${principal.namespace} (or "me") alone.`);
    },

    forRead: async (principal, namespace) => {
      if (namespace !== principal.namespace) return void (await require(namespace));
      const tenant = cached(namespace) ?? (await find(namespace));
      if (tenant) refuseStranger(principal, tenant);
    },

    forWrite: async (principal, namespace, signal) => {
      const known = cached(namespace);
      if (known && isUsable(known) && known.metadata.deletionTimestamp === undefined) {
        return refuseStranger(principal, known);
      }
      if (namespace !== principal.namespace) return refuseUnusable(await require(namespace));
      if (!(await find(namespace))) await create(principal);
      const tenant = await awaitUsable(namespace, signal);
      if (!tenant) throw new Conflict("The namespace was deleted at the same time. Try again.", "Terminating");
      refuseStranger(principal, tenant);
      refuseUnusable(tenant);
    },

    remove: async (principal, namespace, confirmation) => {
      if (!isTenantNamespace(namespace)) throw new Forbidden("Only a tenant's namespace can be deleted here.");
      if (confirmation !== namespace) {
        throw invalidField("confirm", `must repeat the namespace: ?confirm=${namespace}. Everything in it is deleted.`);
      }
      const tenant = await find(namespace);
      if (!tenant) throw new NotFound(`There is no namespace ${namespace}.`);
      refuseStranger(principal, tenant);
      await kube.delete(TENANTS, { name: namespace }, { uid: tenant.metadata.uid });
    },
  };
};
