import { isObject, fieldSchema, type JsonObject, type Schema } from "../schema/schema.js";
import { itemElement, shapeOf } from "./shape.js";
import type { FieldSet } from "./field-set.js";

const mergeObjects = (live: JsonObject, applied: JsonObject, schema: Schema | undefined): JsonObject => {
  const merged: JsonObject = { ...live };
  for (const [key, value] of Object.entries(applied))
    merged[key] = key in live ? mergeApplied(live[key], value, fieldSchema(schema, key)) : value;
  return merged;
};

/**
 * Items that only the live list has keep their place; shared and new ones come in the order of the applied list
 * (visitListItems of structured-merge-diff).
 */
const mergeLists = (live: readonly unknown[], applied: readonly unknown[], schema: Schema): unknown[] => {
  const identify = (item: unknown) => itemElement(item, schema);
  const liveByElement = new Map(live.map((item) => [identify(item), item]));
  const liveElements = [...liveByElement.keys()];
  const appliedElements = applied.map(identify);
  const isApplied = new Set(appliedElements);
  const merged: unknown[] = [];
  let l = 0;
  let r = 0;
  const nextShared = () => appliedElements.slice(r).find((element) => liveByElement.has(element));
  while (l < liveElements.length || r < applied.length) {
    const element = liveElements[l];
    if (element !== undefined && !isApplied.has(element)) {
      merged.push(liveByElement.get(element));
      l++;
    } else if (element !== undefined && element !== nextShared()) l++;
    else {
      const target = appliedElements[r] ?? "";
      const item = applied[r];
      merged.push(liveByElement.has(target) ? mergeApplied(liveByElement.get(target), item, schema.items) : item);
      if (target === element) l++;
      r++;
    }
  }
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
