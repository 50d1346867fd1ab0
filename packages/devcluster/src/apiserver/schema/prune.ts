import { fieldSchema, isObject, isOpen, type JsonObject, type Schema } from "./schema.js";

/** Fields of every object, which a custom resource's own schema need not name. */
const ENVELOPE = ["apiVersion", "kind", "metadata"];

type OnUnknown = (path: string) => void;

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/**
 * Removes, in place, the fields that a schema does not know.
 * @param onUnknown hears the path of each, as `spec.containers[0].imge`
 */
export const prune = (value: unknown, schema: Schema, onUnknown: OnUnknown = () => undefined, path = ""): void => {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) value.forEach((item, index) => prune(item, items, onUnknown, `${path}[${index}]`));
    return;
  }
  if (!isObject(value)) return;
  const envelope = schema["x-kubernetes-embedded-resource"] === true || path === "" ? ENVELOPE : [];
  for (const key of Object.keys(value)) pruneField({ value, key, path: join(path, key) }, schema, envelope, onUnknown);
};

const pruneField = (
  { value, key, path }: { value: JsonObject; key: string; path: string },
  schema: Schema,
  envelope: readonly string[],
  onUnknown: OnUnknown,
): void => {
  const field = fieldSchema(schema, key);
  if (field) return prune(value[key], field, onUnknown, path);
  if (envelope.includes(key) || isOpen(schema)) return;
  onUnknown(path);
  delete value[key];
};

/** The paths of the fields that a schema does not know; the value stays as it is. */
export const findUnknownFields = (value: unknown, schema: Schema): string[] => {
  const unknown: string[] = [];
  prune(structuredClone(value), schema, (path) => unknown.push(path));
  return unknown;
};
