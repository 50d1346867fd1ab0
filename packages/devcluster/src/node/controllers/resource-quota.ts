import { PODS, RESOURCE_QUOTAS, splitKey, type ResourceQuota } from "../objects.js";
import { usageOf } from "../quota/quota.js";
import { formatUsage } from "../quota/usage.js";
import { itself, startController, type Controller, type ControllerDeps } from "./controller.js";

/** Keeps `status.used` of quotas in step with the pods there are. */
export const startResourceQuotaController = (deps: ControllerDeps): Controller => {
  const { store } = deps;
  const quotasOf = ({ metadata }: { metadata: { namespace?: string } }): string[] =>
    store
      .list(RESOURCE_QUOTAS, { namespace: metadata.namespace })
      .items.map((quota) => `${metadata.namespace}/${quota.metadata.name}`);
  const rules = [
    { type: RESOURCE_QUOTAS, keysOf: itself },
    { type: PODS, keysOf: quotasOf },
  ];
  return startController(deps, "resource-quota", rules, () => (key) => {
    const { namespace, name } = splitKey(key);
    const quota = store.get(RESOURCE_QUOTAS, namespace, name) as ResourceQuota | undefined;
    if (!quota) return;
    const status = { hard: quota.spec?.hard ?? {}, used: formatUsage(usageOf(store, quota)) };
    store.update(RESOURCE_QUOTAS, { ...quota, status }, { subresource: "status" });
  });
};
