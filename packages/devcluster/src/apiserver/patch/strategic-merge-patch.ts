import { jsonEqual } from "../../store/json-equal.js";
import { badRequest } from "../../store/api-status-error.js";
import { fieldSchema, isObject, type JsonObject, type Schema } from "../schema/schema.js";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const SET_ORDER = "$setElementOrder/";

const hasStrategy = (schema: Schema | undefined, strategy: string): boolean =>
  (schema?.["x-kubernetes-patch-strategy"] ?? "").split(",").includes(strategy);

const listAt = (patch: JsonObject, key: string): unknown[] | undefined => {
  const value = patch[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw badRequest(`${key} must be a list`);
  return value as unknown[];
};

type Identify = (item: unknown) => string;

/**
 * Puts items into the order that a patch names them in; those that it does not name are inserted where they
 * stood in the live list, as far as both can be compared (mergeSortedSlice of apimachinery's strategicpatch).
 */
const reorder = (
  merged: readonly unknown[],
  named: readonly string[],
  live: readonly string[],
  identify: Identify,
): unknown[] => {
  const byRank = (order: readonly string[]) => (a: unknown, b: unknown) =>
    order.indexOf(identify(a)) - order.indexOf(identify(b));
  const left = merged.filter((item) => !named.includes(identify(item))).sort(byRank(live));
  const right = merged.filter((item) => named.includes(identify(item))).sort(byRank(named));
  const result: unknown[] = [];
  while (left.length > 0 && right.length > 0) {
    const [l, r] = [live.indexOf(identify(left[0])), live.indexOf(identify(right[0]))];
    result.push(l >= 0 && r >= 0 && l < r ? left.shift() : right.shift());
  }
  return [...result, ...left, ...right];
};

const mergePrimitives = (
  target: readonly unknown[],
  patch: readonly unknown[],
  removed: readonly unknown[],
): unknown[] => {
  const kept = target.filter((item) => !removed.some((gone) => jsonEqual(gone, item)));
  return [...kept, ...patch.filter((item) => !kept.some((present) => jsonEqual(present, item)))];
};

const mergeItems = (target: readonly unknown[], patch: readonly unknown[], schema: Schema): unknown[] => {
  const mergeKey = schema["x-kubernetes-patch-merge-key"] ?? "name";
  if (patch.some((item) => isObject(item) && item[DIRECTIVE] === "replace"))
    return patch.filter((item) => isObject(item) && item[DIRECTIVE] === undefined);
  const result = [...target];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest(`items merged by ${mergeKey} must be objects`);
    if (item[mergeKey] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    const index = result.findIndex((present) => isObject(present) && present[mergeKey] === item[mergeKey]);
    if (item[DIRECTIVE] === "delete") {
      if (index >= 0) result.splice(index, 1);
    } else if (index < 0) result.push(applyStrategicMergePatch({}, item, schema.items));
    else result[index] = applyStrategicMergePatch(result[index], item, schema.items);
  }
  return result;
};

const mergeList = (
  target: unknown,
  patch: unknown[] | undefined,
  { schema, removed, order }: { schema: Schema; removed: unknown[] | undefined; order: unknown[] | undefined },
): unknown[] => {
  const current = Array.isArray(target) ? (target as unknown[]) : [];
  const mergeKey = schema["x-kubernetes-patch-merge-key"];
  const identify: Identify = (item) => JSON.stringify(mergeKey !== undefined && isObject(item) ? item[mergeKey] : item);
  const merged =
    mergeKey === undefined
      ? mergePrimitives(current, patch ?? [], removed ?? [])
      : mergeItems(current, patch ?? [], schema);
  return reorder(merged, (order ?? patch ?? []).map(identify), current.map(identify), identify);
};

const mergeField = (target: JsonObject, patch: JsonObject, key: string, schema: Schema | undefined): unknown => {
  const value = patch[key];
  const isMergedList = hasStrategy(schema, "merge") && (schema?.items !== undefined || Array.isArray(target[key]));
  if (schema && isMergedList && (value === undefined || Array.isArray(value)))
    return mergeList(target[key], value as unknown[] | undefined, {
      schema,
      removed: listAt(patch, `${DELETE_FROM}${key}`),
      order: listAt(patch, `${SET_ORDER}${key}`),
    });
  if (isObject(value)) return applyStrategicMergePatch(target[key], value, schema);
  return value;
};

/** Keys that only steer the merge of the field they name. */
const steered = (patch: JsonObject): string[] =>
  Object.keys(patch).flatMap((key) => {
    const prefix = [DELETE_FROM, SET_ORDER].find((one) => key.startsWith(one));
    return prefix ? [key.slice(prefix.length)] : [];
  });

const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** What the patch's fields are put over: the target, or what its directives leave of it. */
const startingPoint = (target: unknown, patch: JsonObject): JsonObject => {
  if (!isObject(target) || patch[DIRECTIVE] === "replace") return {};
  const retained = listAt(patch, RETAIN_KEYS);
  return Object.fromEntries(Object.entries(target).filter(([key]) => retained?.includes(key) ?? true));
};

/**
 * Applies a strategic merge patch: as RFC 7386, but lists with a merge key are merged item by item, and
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) are followed.
 * Neither argument is changed.
 * @throws 400 when a directive or item does not fit
 */
export const applyStrategicMergePatch = (target: unknown, patch: JsonObject, schema: Schema | undefined): unknown => {
  if (patch[DIRECTIVE] === "delete") return undefined;
  const current = startingPoint(target, patch);
  const keys = Object.keys(patch).filter((key) => !key.startsWith("$"));
  for (const key of new Set([...keys, ...steered(patch)])) {
    if (FORBIDDEN_KEYS.has(key)) continue;
    const merged = patch[key] === null ? undefined : mergeField(current, patch, key, fieldSchema(schema, key));
    if (merged === undefined) delete current[key];
    else current[key] = merged;
  }
  return current;
};
