import { isDeepStrictEqual } from "node:util";
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

/** Puts items into the order that a patch asks for; others stay after those they followed. */
const reorder = (list: unknown[], order: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] => {
  const rank = new Map(order.map((item, index) => [JSON.stringify(keyOf(item)), index]));
  const rankOf = (item: unknown) => rank.get(JSON.stringify(keyOf(item)));
  const ordered = list.filter((item) => rankOf(item) !== undefined).sort((a, b) => (rankOf(a) ?? 0) - (rankOf(b) ?? 0));
  const others = list.filter((item) => rankOf(item) === undefined);
  return [...ordered, ...others];
};

const mergePrimitives = (
  target: readonly unknown[],
  patch: readonly unknown[],
  removed: readonly unknown[],
): unknown[] => {
  const kept = target.filter((item) => !removed.some((gone) => isDeepStrictEqual(gone, item)));
  return [...kept, ...patch.filter((item) => !kept.some((present) => isDeepStrictEqual(present, item)))];
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
  if (mergeKey === undefined) {
    const merged = mergePrimitives(current, patch ?? [], removed ?? []);
    return order ? reorder(merged, order, (item) => item) : merged;
  }
  const merged = mergeItems(current, patch ?? [], schema);
  return order ? reorder(merged, order, (item) => (isObject(item) ? item[mergeKey] : item)) : merged;
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

/**
 * Applies a strategic merge patch: as RFC 7386, but lists with a merge key are merged item by item, and
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) are followed.
 * Neither argument is changed.
 * @throws 400 when a directive or item does not fit
 */
export const applyStrategicMergePatch = (target: unknown, patch: JsonObject, schema: Schema | undefined): unknown => {
  const directive = patch[DIRECTIVE];
  if (directive === "delete") return undefined;
  const current: JsonObject = isObject(target) && directive !== "replace" ? { ...target } : {};
  const retained = listAt(patch, RETAIN_KEYS);
  if (retained) for (const key of Object.keys(current)) if (!retained.includes(key)) delete current[key];
  const keys = Object.keys(patch).filter((key) => !key.startsWith("$"));
  for (const key of new Set([...keys, ...steered(patch)])) {
    if (FORBIDDEN_KEYS.has(key)) continue;
    if (patch[key] === null) delete current[key];
    else {
      const merged = mergeField(current, patch, key, fieldSchema(schema, key));
      if (merged === undefined) delete current[key];
      else current[key] = merged;
    }
  }
  return current;
};
