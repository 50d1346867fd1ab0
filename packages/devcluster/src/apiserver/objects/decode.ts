import { badRequest } from "../../store/api-status-error.js";
import type { ResourceType } from "../../store/types.js";
import { matchesFormat } from "../schema/formats.js";
import { fieldSchema, isObject, type Schema } from "../schema/schema.js";

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
};

/** Go's names for what a schema's type decodes into. */
const goType = ({ type, format }: Schema): string => {
  if (type === "integer") return format ?? "int32";
  if (type === "boolean") return "bool";
  return type ?? "object";
};

const fits = (value: unknown, { type, format, oneOf }: Schema): boolean => {
  if (type === undefined) {
    if (!oneOf) return true;
    return oneOf.some((branch) => fits(value, branch));
  }
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer")
    return Number.isInteger(value) && (format !== "int32" || Math.abs(value as number) <= 2 ** 31);
  if (format === "byte" && typeof value === "string") return matchesFormat(value, format);
  return typeof value === type;
};

interface Mismatch {
  value: unknown;
  path: string;
  schema: Schema;
}

const findMismatch = (value: unknown, schema: Schema, path: string): Mismatch | undefined => {
  if (value === null || value === undefined) return undefined;
  if (!fits(value, schema)) return { value, path, schema };
  const children: [unknown, Schema | undefined, string][] = Array.isArray(value)
    ? value.map((item: unknown) => [item, schema.items, path])
    : isObject(value)
      ? Object.entries(value).map(([key, child]) => [
          child,
          fieldSchema(schema, key),
          path === "" ? key : `${path}.${key}`,
        ])
      : [];
  for (const [child, childSchema, childPath] of children) {
    const found = childSchema && findMismatch(child, childSchema, childPath);
    if (found) return found;
  }
  return undefined;
};

/** 400 BadRequest when a field's JSON type is not the one that the kind's Go type decodes. */
export const assertDecodable = (object: unknown, type: ResourceType, schema: Schema): void => {
  const found = findMismatch(object, schema, "");
  if (!found) return;
  const shown = typeof found.value === "number" ? `number ${found.value}` : kindOf(found.value);
  throw badRequest(
    `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: json: cannot unmarshal ${shown} into Go struct field .${found.path} of type ${goType(found.schema)}`,
  );
};
