import { isObject, fieldSchema, type JsonObject, type Schema } from "../schema/schema.js";
import { itemElement, shapeOf } from "./shape.js";
import type { FieldSet } from "./field-set.js";

const mergeObjects = (live: JsonObject, applied: JsonObject, schema: Schema | undefined): JsonObject => {
  const merged: JsonObject = { ...live };
  for (const [key, value] of Object.entries(applied))
    merged[key] = key in live ? mergeApplied(live[key], value, fieldSchema(schema, key)) : value;
  return merged;
};

/** Items keep the order of both lists; where they disagree, the applied one's counts. */
const mergeLists = (live: readonly unknown[], applied: readonly unknown[], schema: Schema): unknown[] => {
  const liveByElement = new Map(live.map((item) => [itemElement(item, schema), item]));
  const appliedElements = applied.map((item) => itemElement(item, schema));
  const inApplied = new Set(appliedElements);
  const merged: unknown[] = [];
  const liveElements = [...liveByElement.keys()];
  let next = 0;
  const takeLiveOnly = (until: string | undefined): void => {
    for (; next < liveElements.length; next++) {
      const element = liveElements[next] ?? "";
      if (element === until) return;
      if (!inApplied.has(element)) merged.push(liveByElement.get(element));
    }
  };
  applied.forEach((item, index) => {
    const element = appliedElements[index] ?? "";
    const isAhead = liveElements.indexOf(element, next) >= 0;
    if (isAhead) {
      takeLiveOnly(element);
      next++;
    }
    const earlier = liveByElement.get(element);
    merged.push(earlier === undefined ? item : mergeApplied(earlier, item, schema.items));
  });
  takeLiveOnly(undefined);
  return merged;
};

/** Puts an applied configuration over the live state, as the schema's lists and maps say. */
export const mergeApplied = (live: unknown, applied: unknown, schema: Schema | undefined): unknown => {
  const shape = shapeOf(applied, schema);
  if (shape === "object" && isObject(live)) return mergeObjects(live, applied as JsonObject, schema);
  if ((shape === "map-list" || shape === "set-list") && Array.isArray(live))
    return mergeLists(live, applied as unknown[], schema ?? {});
  return applied;
};

/** A copy without the paths of a set. */
export const removeFields = (value: unknown, schema: Schema | undefined, fields: FieldSet): unknown => {
  const shape = shapeOf(value, schema);
  if (shape === "atomic") return value;
  if (Array.isArray(value))
    return (value as unknown[]).flatMap((item) => {
      const below = fields.child(itemElement(item, schema ?? {}));
      if (!below) return [item];
      return below.isMember ? [] : [removeFields(item, schema?.items, below)];
    });
  const kept: JsonObject = {};
  for (const [key, child] of Object.entries(value as JsonObject)) {
    const below = fields.child(`f:${key}`);
    if (below?.isMember) continue;
    kept[key] = below ? removeFields(child, fieldSchema(schema, key), below) : child;
  }
  return kept;
};
