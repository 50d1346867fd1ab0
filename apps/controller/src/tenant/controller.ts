import { LABELS } from "@sless/contracts";
import {
  createController,
  source,
  type Controller,
  type KubeObject,
  type Logger,
  type WorkQueueMetrics,
} from "@sless/kube";
import type { Caches } from "../caches.js";
import type { TenantDeps } from "./deps.js";
import { createTenantReconcile } from "./reconcile.js";

interface TenantControllerOptions {
  readonly deps: TenantDeps;
  readonly caches: Caches;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly metrics?: WorkQueueMetrics | undefined;
}

/** Watches Tenants and their namespaces; and, while one is being deleted, what has to go first. */
export const createTenantController = (options: TenantControllerOptions): Controller => {
  const { deps, caches, logger, concurrency, metrics } = options;
  const ofNamespace = ({ metadata }: KubeObject): string[] => {
    const tenant = caches.tenants.get(metadata.namespace ?? "");
    return tenant?.metadata.deletionTimestamp ? [tenant.metadata.name] : [];
  };
  return createController({
    name: "tenant",
    reconcile: createTenantReconcile(deps),
    sources: [
      source(caches.tenants),
      source(caches.namespaces, ({ metadata }) =>
        [metadata.labels?.[LABELS.tenant] ?? ""].filter((name) => name !== ""),
      ),
      source(caches.functions, ofNamespace),
      source(caches.triggers, ofNamespace),
      source(caches.versions, ofNamespace),
    ],
    logger,
    concurrency,
    metrics,
  });
};
