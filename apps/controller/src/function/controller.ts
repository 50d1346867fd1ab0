import { createController, source, type Controller, type Logger, type WorkQueueMetrics } from "@sless/kube";
import { functionKeyOf, type Caches } from "../caches.js";
import { functionKeysOf } from "../keys.js";
import { createFunctionReconcile } from "./reconcile.js";
import type { FunctionDeps } from "./turn.js";

interface FunctionControllerOptions {
  readonly deps: FunctionDeps;
  readonly caches: Caches;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly metrics?: WorkQueueMetrics | undefined;
}

/** Watches what a Function depends on: itself, its versions and triggers, its tenant, and the gateways' reports. */
export const createFunctionController = (options: FunctionControllerOptions): Controller => {
  const { deps, caches, logger, concurrency, metrics } = options;
  const inNamespace = (namespace: string): string[] =>
    caches.functions.byIndex("namespace", namespace).map(({ metadata }) => `${namespace}/${metadata.name}`);
  // Gateways report up to once a second: only the Functions that await them are woken.
  const awaiting = (): readonly string[] => deps.acknowledgements.awaiting();
  return createController({
    name: "function",
    reconcile: createFunctionReconcile(deps),
    sources: [
      source(caches.functions),
      source(caches.versions, functionKeysOf),
      source(caches.triggers, (trigger) => [functionKeyOf(trigger)]),
      source(caches.tenants, ({ metadata }) => inNamespace(metadata.name)),
      source(caches.reports, awaiting),
      source(caches.gatewayLeases, awaiting),
    ],
    logger,
    concurrency,
    metrics,
  });
};
