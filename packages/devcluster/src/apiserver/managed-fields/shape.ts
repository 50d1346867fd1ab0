import { fieldSchema, isObject, type JsonObject, type Schema } from "../schema/schema.js";

/** How a value's parts are owned: as one, by field, by keyed item, or by the value of an item. */
export type Shape = "atomic" | "object" | "map-list" | "set-list";

/** Where no schema speaks, objects are owned field by field and lists as one, as Kubernetes deduces it. */
export const shapeOf = (value: unknown, schema: Schema | undefined): Shape => {
  if (Array.isArray(value)) {
    const kind = schema?.["x-kubernetes-list-type"];
    if (kind === "map") return "map-list";
    return kind === "set" ? "set-list" : "atomic";
  }
  if (!isObject(value)) return "atomic";
  return schema?.["x-kubernetes-map-type"] === "atomic" ? "atomic" : "object";
};

/** `k:{"name":"a"}` or `v:"a"`: the path element of a list's item. */
export const itemElement = (item: unknown, schema: Schema): string => {
  if (schema["x-kubernetes-list-type"] === "set") return `v:${JSON.stringify(item)}`;
  const keys = [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort();
  const identity: JsonObject = {};
  for (const key of keys) {
    const value = isObject(item) ? (item[key] ?? schema.items?.properties?.[key]?.default) : undefined;
    if (value !== undefined) identity[key] = value;
  }
  return `k:${JSON.stringify(identity)}`;
};

export interface Part {
  element: string;
  value: unknown;
  schema: Schema | undefined;
  /** Whether the schema names this field, rather than describing any key. */
  named: boolean;
}

/** The parts of a value that is no atom. */
export const partsOf = (value: unknown, schema: Schema | undefined): Part[] => {
  if (Array.isArray(value))
    return value.map((item: unknown) => ({
      element: itemElement(item, schema ?? {}),
      value: item,
      schema: schema?.items,
      named: false,
    }));
  return Object.entries(value as JsonObject)
    .filter(([, child]) => child !== undefined)
    .map(([key, child]) => ({
      element: `f:${key}`,
      value: child,
      schema: fieldSchema(schema, key),
      named: schema?.properties !== undefined && Object.hasOwn(schema.properties, key),
    }));
};

export const isEmptyContainer = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
