import { ANNOTATIONS } from "@sless/contracts";
import { createController, keyOf, source, type Controller, type Logger, type WorkQueueMetrics } from "@sless/kube";
import type { Caches } from "../caches.js";
import { hostOf, type TriggerDeps } from "./deps.js";
import { createTriggerReconcile } from "./reconcile.js";

interface TriggerControllerOptions {
  readonly deps: TriggerDeps;
  readonly caches: Caches;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly metrics?: WorkQueueMetrics | undefined;
}

/**
 * Watches triggers, their functions and tenants, and the claims of hosts: a trigger whose function comes later, or whose
 * rival goes, becomes ready by itself (D28).
 */
export const createTriggerController = (options: TriggerControllerOptions): Controller => {
  const { deps, caches, logger, concurrency, metrics } = options;
  const wanting = (host: string | undefined): string[] =>
    host === undefined ? [] : caches.triggers.byIndex("host", host).map(keyOf);
  const inTenant = (namespace: string): string[] => caches.triggers.byIndex("namespace", namespace).map(keyOf);
  return createController({
    name: "trigger",
    reconcile: createTriggerReconcile(deps),
    sources: [
      source(caches.triggers, (trigger, key) => [key, ...wanting(hostOf(trigger, deps.rules))]),
      source(caches.functions, (_fn, key) => caches.triggers.byIndex("function", key).map(keyOf)),
      source(caches.tenants, ({ metadata }) => inTenant(metadata.name)),
      source(caches.hostClaims, ({ metadata }) => wanting(metadata.annotations?.[ANNOTATIONS.host])),
    ],
    logger,
    concurrency,
    metrics,
  });
};
