import { namespaces, NotFoundError, type Applier, type Clock, type KubeClient, type Namespace } from "@sless/kube";
import type { Caches } from "../caches.js";
import type { StatusWriter } from "../status/write-status.js";

export interface TenantDeps {
  readonly caches: Pick<Caches, "tenants" | "functions" | "triggers" | "versions" | "hostClaims" | "namespaces">;
  readonly client: Pick<KubeClient, "get" | "create" | "delete" | "mergePatch">;
  readonly applier: Applier;
  readonly writeStatus: StatusWriter;
  readonly installation: string;
  readonly clock: Clock;
}

/** The live namespace. One without our label is in no cache, so the API server is asked before it counts as absent. */
export const findNamespace = async (
  name: string,
  deps: Pick<TenantDeps, "caches" | "client">,
): Promise<Namespace | undefined> => {
  const cached = deps.caches.namespaces.get(name);
  if (cached) return cached;
  try {
    return await deps.client.get(namespaces, { name });
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
};
