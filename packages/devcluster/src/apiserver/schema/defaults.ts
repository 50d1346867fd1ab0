import { fieldSchema, isObject, type JsonObject, type Schema } from "./schema.js";

const hasDefault = (schema: Schema): boolean => schema.default !== undefined;

/** Nulls of fields that may not be null count as absent. */
const dropNulls = (value: JsonObject, schema: Schema): void => {
  for (const [key, child] of Object.entries(value)) {
    if (child !== null) continue;
    const field = fieldSchema(schema, key);
    if (field && field.nullable !== true) delete value[key];
  }
};

const fillObject = (value: JsonObject, schema: Schema): void => {
  dropNulls(value, schema);
  for (const [key, field] of Object.entries(schema.properties ?? {}))
    if (value[key] === undefined && hasDefault(field)) value[key] = structuredClone(field.default);
  for (const [key, child] of Object.entries(value)) {
    const field = fieldSchema(schema, key);
    if (field) fillDefaults(child, field);
  }
};

/** Fills in, in place, what a custom resource's schema gives defaults for, at every level that is there. */
export const fillDefaults = (value: unknown, schema: Schema): void => {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const item of value) fillDefaults(item, items);
    return;
  }
  if (isObject(value)) fillObject(value, schema);
};

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/**
 * Empty lists and maps of optional fields are left out by `omitempty`; an empty struct behind a pointer is not, nor is
 * what stands in a field of any JSON, such as a definition's `default: []`.
 */
const isOmitted = (key: string, value: unknown, field: Schema, parent: Schema): boolean => {
  if (parent.required?.includes(key) || parent.properties === undefined) return false;
  if (Array.isArray(value)) return value.length === 0 && field.type === "array";
  return isEmptyObject(value) && typeof field.additionalProperties === "object";
};

const dropOmitted = (value: JsonObject, schema: Schema): void => {
  for (const [key, child] of Object.entries(value)) {
    const field = fieldSchema(schema, key);
    if (child === null || (field && isOmitted(key, child, field, schema))) delete value[key];
  }
};

const addStructs = (value: JsonObject, schema: Schema): void => {
  for (const [key, field] of Object.entries(schema.properties ?? {}))
    if (value[key] === undefined && isEmptyObject(field.default)) value[key] = {};
};

/**
 * Brings a built-in object into the form that decoding and encoding by Go's types leaves: no nulls, and `{}` for
 * the structs that are no pointers (`resources`, `strategy`, `status`), which the schemas mark by a default `{}`.
 */
export const normaliseBuiltIn = (value: unknown, schema: Schema): void => {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const item of value) normaliseBuiltIn(item, items);
    return;
  }
  if (!isObject(value)) return;
  dropOmitted(value, schema);
  addStructs(value, schema);
  for (const [key, child] of Object.entries(value)) {
    const field = fieldSchema(schema, key);
    if (field) normaliseBuiltIn(child, field);
  }
};
