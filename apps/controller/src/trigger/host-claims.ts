import { ANNOTATIONS, hostClaimName, LABELS } from "@sless/contracts";
import { AlreadyExistsError, configMaps, NotFoundError, objectKeyOf, type ConfigMap } from "@sless/kube";
import { problem, type Problem } from "../status/condition-set.js";
import type { TriggerDeps } from "./deps.js";
import { makeHostClaim } from "./resources/host-claim.js";

const taken = (host: string): Problem => problem("HostConflict", `host ${host} is already in use`);

const judge = (claim: ConfigMap, host: string, tenant: string): Problem | undefined => {
  const { labels, annotations } = claim.metadata;
  return labels?.[LABELS.tenant] === tenant && annotations?.[ANNOTATIONS.host] === host ? undefined : taken(host);
};

/**
 * Claims a host for a tenant. Creating the claim is the atomic step: of two tenants that race one gets the host, whatever
 * their caches say.
 * @returns why the tenant does not hold it.
 */
export const claimHost = async (host: string, tenant: string, deps: TriggerDeps): Promise<Problem | undefined> => {
  const { caches, client, systemNamespace, installation } = deps;
  const key = { name: hostClaimName(host), namespace: systemNamespace };
  const cached = caches.hostClaims.get(`${key.namespace}/${key.name}`);
  if (cached) return judge(cached, host, tenant);
  try {
    await client.create(configMaps, makeHostClaim({ host, tenant, systemNamespace, installation }));
    return undefined;
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    return judge(await client.get(configMaps, key), host, tenant);
  }
};

/** True while a trigger of the tenant, also a disabled one, asks for the host. */
const isWanted = (host: string | undefined, tenant: string, { caches }: TriggerDeps): boolean =>
  host !== undefined &&
  caches.triggers
    .byIndex("host", host)
    .some(({ metadata }) => metadata.namespace === tenant && !metadata.deletionTimestamp);

/** Releases the tenant's claims of hosts that none of its triggers asks for any more. */
export const releaseClaims = async (tenant: string, deps: TriggerDeps): Promise<void> => {
  for (const claim of deps.caches.hostClaims.byIndex("tenant", tenant)) {
    if (isWanted(claim.metadata.annotations?.[ANNOTATIONS.host], tenant, deps)) continue;
    try {
      const { uid, resourceVersion } = claim.metadata;
      await deps.client.delete(configMaps, objectKeyOf(claim), { uid, resourceVersion });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
};
