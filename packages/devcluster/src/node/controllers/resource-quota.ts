import { RESOURCE_QUOTAS, splitKey, type ResourceQuota } from "../objects.js";
import { makeUsed, measureOf } from "../quota/usage.js";
import type { KubeObject, ResourceRef } from "../../store/types.js";
import { itself, startController, type Controller, type ControllerDeps } from "./controller.js";

const keyOfType = ({ group, plural }: ResourceRef): string => `${plural}.${group}`;

/** Keeps `status.used` of quotas in step with what there is. */
export const startResourceQuotaController = (deps: ControllerDeps): Controller => {
  const { store } = deps;
  const quotas = (namespace?: string) => store.list(RESOURCE_QUOTAS, { namespace }).items as readonly ResourceQuota[];
  /** Quotas of the namespace that count objects of this kind. */
  const quotasThatCount =
    (type: ResourceRef) =>
    ({ metadata }: KubeObject): string[] =>
      quotas(metadata.namespace)
        .filter(({ spec }) => Object.keys(spec?.hard ?? {}).some((resource) => countsType(resource, type)))
        .map((quota) => `${metadata.namespace}/${quota.metadata.name}`);

  const rules = store
    .resourceTypes()
    .filter(({ namespaced, plural }) => namespaced && plural !== RESOURCE_QUOTAS.plural)
    .map((type) => ({ type, keysOf: quotasThatCount(type) }));

  return startController(deps, "resource-quota", [{ type: RESOURCE_QUOTAS, keysOf: itself }, ...rules], () => (key) => {
    const { namespace, name } = splitKey(key);
    const quota = store.get(RESOURCE_QUOTAS, namespace, name) as ResourceQuota | undefined;
    if (!quota) return;
    const hard = quota.spec?.hard ?? {};
    const status = { hard, used: makeUsed(store, namespace, hard) };
    store.update(RESOURCE_QUOTAS, { ...quota, status }, { subresource: "status" });
  });
};

const countsType = (resource: string, type: ResourceRef): boolean => {
  const measure = measureOf(resource);
  return measure !== undefined && keyOfType(measure.type) === keyOfType(type);
};
