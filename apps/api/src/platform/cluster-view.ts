import { FUNCTIONS, TENANTS, TRIGGERS, type Tenant } from "@sless/contracts";
import { createInformer, type KubeClient } from "@sless/kube";
import { createChangeSignals, type ChangeSignals } from "./change-signals.js";
import type { Logger } from "./logger.js";

/** What the API watches: tenants, whose identity it checks at every request, and changes that waits are woken by. */
export interface ClusterView {
  readonly tenant: (name: string) => Tenant | undefined;
  readonly tenantSignals: ChangeSignals;
  readonly functionSignals: ChangeSignals;
  readonly triggerSignals: ChangeSignals;
  /** Follows the cluster until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Functions and triggers are not cached: only that they changed is told, and their keys are all that is kept. */
const onlyVersion = (object: { metadata: { resourceVersion?: string } }): string =>
  object.metadata.resourceVersion ?? "";

export const createClusterView = (client: Pick<KubeClient, "list" | "watch">, logger: Logger): ClusterView => {
  const tenants = createInformer({ client, resource: TENANTS, logger });
  const functions = createInformer({ client, resource: FUNCTIONS, select: onlyVersion, logger });
  const triggers = createInformer({ client, resource: TRIGGERS, select: onlyVersion, logger });
  return {
    tenant: tenants.get,
    tenantSignals: createChangeSignals(tenants),
    functionSignals: createChangeSignals(functions),
    triggerSignals: createChangeSignals(triggers),
    run: async (signal) => {
      await Promise.all([tenants, functions, triggers].map((informer) => informer.run(signal)));
    },
  };
};
