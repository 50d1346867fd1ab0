import { createController, source, type Controller, type Logger, type WorkQueueMetrics } from "@sless/kube";
import type { Caches } from "../caches.js";
import { versionKeysOf } from "../keys.js";
import type { VersionDeps } from "./deps.js";
import { createVersionReconcile } from "./reconcile.js";

interface VersionControllerOptions {
  readonly deps: VersionDeps;
  readonly caches: Caches;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly metrics?: WorkQueueMetrics | undefined;
}

/**
 * Watches versions and what they run. Children live in other namespaces, where owner references do not reach, so they
 * are found by their labels: one that is edited or deleted wakes its version at once.
 */
export const createVersionController = (options: VersionControllerOptions): Controller => {
  const { deps, caches, logger, concurrency, metrics } = options;
  const keysOf = (versions: readonly { metadata: { namespace?: string; name: string } }[]): string[] =>
    versions.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
  return createController({
    name: "function-version",
    reconcile: createVersionReconcile(deps),
    sources: [
      source(caches.versions),
      source(caches.functions, ({ metadata }) => keysOf(caches.versions.byIndex("functionUid", metadata.uid ?? ""))),
      source(caches.tenants, ({ metadata }) => keysOf(caches.versions.byIndex("namespace", metadata.name))),
      source(caches.deployments, versionKeysOf),
      source(caches.services, versionKeysOf),
      source(caches.pods, versionKeysOf),
    ],
    logger,
    concurrency,
    metrics,
  });
};
