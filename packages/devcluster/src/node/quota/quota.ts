import { forbidden } from "../../store/api-status-error.js";
import type { ClusterStore, NewKubeObject, ResourceRef } from "../../store/types.js";
import { RESOURCE_QUOTAS, type ResourceQuota } from "../objects.js";
import { parseQuantity } from "../quantity.js";
import { formatAmount, measureOf, usedIn, type Measure } from "./usage.js";

interface Bound {
  resource: string;
  measure: Measure;
  limit: number;
}

const isSame = (a: ResourceRef, b: ResourceRef): boolean => a.group === b.group && a.plural === b.plural;

/** The bounds of a quota that a new object of this kind counts under. */
const boundsFor = ({ spec }: ResourceQuota, type: ResourceRef): Bound[] => {
  // A quota with scopes binds only some pods; devcluster counts none under it rather than the wrong ones.
  if (spec?.scopes?.length || spec?.scopeSelector) return [];
  return Object.entries(spec?.hard ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([resource, quantity]): Bound[] => {
      const measure = measureOf(resource);
      return measure && isSame(measure.type, type) ? [{ resource, measure, limit: parseQuantity(quantity) }] : [];
    });
};

const silence = (bounds: readonly Bound[], object: NewKubeObject): string | undefined => {
  const wants = bounds
    .map(({ resource, measure }) => ({ resource, containers: measure.silentOf(object) }))
    .filter(({ containers }) => containers.length > 0)
    .map(({ resource, containers }) => `${resource} for: ${containers.join(",")}`);
  return wants.length > 0 ? `must specify ${wants.join("; ")}` : undefined;
};

const excess = (store: ClusterStore, bounds: readonly Bound[], object: NewKubeObject): string | undefined => {
  const { namespace } = object.metadata;
  const over = bounds
    .map((bound) => ({
      ...bound,
      requested: bound.measure.amountOf(object),
      used: usedIn(store, namespace, bound.measure),
    }))
    .filter(({ requested, used, limit }) => used + requested > limit);
  const list = (key: "requested" | "used" | "limit") =>
    over.map((bound) => `${bound.resource}=${formatAmount(bound.resource, bound[key])}`).join(",");
  return over.length > 0
    ? `requested: ${list("requested")}, used: ${list("used")}, limited: ${list("limit")}`
    : undefined;
};

/**
 * Admission of a new object by the quotas of its namespace. The store has no gaps between calls, so a check followed
 * by the create in the same turn cannot be overtaken.
 * @throws ApiStatusError 403 Forbidden in the words of kube-apiserver
 */
export const admitByQuota = (store: ClusterStore, type: ResourceRef, object: NewKubeObject): void => {
  const { namespace, name, generateName = "" } = object.metadata;
  if (namespace === undefined) return;
  for (const quota of store.list(RESOURCE_QUOTAS, { namespace }).items as readonly ResourceQuota[]) {
    const bounds = boundsFor(quota, type);
    const silent = silence(bounds, object);
    if (silent !== undefined)
      throw forbidden(type, name ?? generateName, `failed quota: ${quota.metadata.name}: ${silent}`);
    const over = excess(store, bounds, object);
    if (over !== undefined)
      throw forbidden(type, name ?? generateName, `exceeded quota: ${quota.metadata.name}, ${over}`);
  }
};
