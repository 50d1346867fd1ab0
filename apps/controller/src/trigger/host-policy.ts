import { canonicalHost, defaultHost, isWithinDomain, tenantShort } from "@sless/contracts";
import { problem, type Problem } from "../status/condition-set.js";

export interface HostRules {
  /** Domain below which functions get their hosts; canonical. */
  readonly functionsDomain: string;
  /** Hosts that no tenant gets, nor what lies below them. */
  readonly reservedHosts: readonly string[];
}

export interface HostWish {
  /** `spec.http.host`, if the user wrote one. */
  readonly host: string | undefined;
  readonly functionName: string;
  /** The tenant's namespace. */
  readonly tenant: string;
  /** `Tenant.spec.hosts`. */
  readonly tenantHosts: readonly string[];
}

/** The canonical host that a trigger asks for, whether or not it may have it; undefined for a host that is none. */
export const wantedHost = ({ host, functionName, tenant }: Omit<HostWish, "tenantHosts">, rules: HostRules) =>
  host === undefined ? defaultHost(functionName, tenant, rules.functionsDomain) : canonicalHost(host);

/** One label below the functions' domain that ends in the tenant's digits, and is no tag's (`<tag>--…`). */
const isOwnLabel = (host: string, tenant: string, domain: string): boolean => {
  const label = host.slice(0, -(domain.length + 1));
  return !label.includes(".") && !label.includes("--") && label.endsWith(`-${tenantShort(tenant)}`);
};

const isNamedForTenant = (host: string, tenantHosts: readonly string[]): boolean =>
  tenantHosts.some((allowed) => {
    const canonical = canonicalHost(allowed);
    return canonical !== undefined && isWithinDomain(host, canonical);
  });

/**
 * Decides whether a tenant may have a host (security 1): its own label below the functions' domain, or what the operator
 * named in its Tenant; never a reserved one. Messages never tell of other tenants.
 */
export const decideHost = (wish: HostWish, rules: HostRules): { readonly host: string } | Problem => {
  const host = wantedHost(wish, rules);
  if (host === undefined)
    return problem("HostInvalid", "spec.http.host is not a DNS name; an example: api.example.com");
  if (rules.reservedHosts.some((reserved) => isWithinDomain(host, canonicalHost(reserved) ?? reserved))) {
    return problem("HostReserved", `host ${host} is the platform's own`);
  }
  if (isWithinDomain(host, rules.functionsDomain)) {
    if (isOwnLabel(host, wish.tenant, rules.functionsDomain)) return { host };
    const example = defaultHost("<name>", wish.tenant, rules.functionsDomain);
    return problem(
      "HostNotAllowed",
      `below ${rules.functionsDomain} this tenant may use ${example}; ${host} is not that`,
    );
  }
  if (isNamedForTenant(host, wish.tenantHosts)) return { host };
  return problem("HostNotAllowed", `host ${host} is not among the tenant's; ask the operator to add it`);
};
