import { jsonEqual } from "../../store/json-equal.js";
import {
  duplicate,
  invalid,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  unsupported,
  type FieldError,
} from "../objects/field-error.js";
import { matchesFormat } from "./formats.js";
import { fieldSchema, isObject, type JsonObject, type Schema } from "./schema.js";

const jsonType = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "object" ? "object" : typeof value;
};

const fits = (actual: string, expected: string): boolean =>
  actual === expected || (expected === "number" && actual === "integer");

const checkType = (value: unknown, schema: Schema, path: string): FieldError[] => {
  const actual = jsonType(value);
  if (schema["x-kubernetes-int-or-string"]) {
    if (actual === "integer" || actual === "string") return [];
    return [typeInvalid(path, actual, `${path} in body must be of type integer,string: ${JSON.stringify(actual)}`)];
  }
  if (schema.type === undefined || fits(actual, schema.type) || (value === null && schema.nullable)) return [];
  return [typeInvalid(path, actual, `${path} in body must be of type ${schema.type}: ${JSON.stringify(actual)}`)];
};

const checkNumber = (value: number, schema: Schema, path: string): FieldError[] => {
  const { minimum, maximum, multipleOf } = schema;
  const errors: FieldError[] = [];
  const than = (exclusive: boolean | undefined, word: string) =>
    exclusive ? `${word} than` : `${word} than or equal to`;
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    errors.push(
      invalid(path, value, `${path} in body should be ${than(schema.exclusiveMinimum, "greater")} ${minimum}`),
    );
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    errors.push(invalid(path, value, `${path} in body should be ${than(schema.exclusiveMaximum, "less")} ${maximum}`));
  if (multipleOf !== undefined && value % multipleOf !== 0)
    errors.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  return errors;
};

const patterns = new Map<string, RegExp>();
const MAX_PATTERNS = 1000;

/** Go's RE2 syntax is close to this engine's; what it cannot compile is no pattern of ours. */
const compile = (pattern: string): RegExp => {
  const known = patterns.get(pattern);
  if (known) return known;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  const compiled = new RegExp(pattern, "u");
  patterns.set(pattern, compiled);
  return compiled;
};

/** The first thing wrong with a text; further ones are not looked for, as in kube-openapi. */
const checkText = (value: string, schema: Schema, path: string): FieldError | undefined => {
  const { minLength, maxLength, pattern } = schema;
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength) return tooLong(path, maxLength);
  if (minLength !== undefined && length < minLength)
    return invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
  if (pattern !== undefined && !compile(pattern).test(value))
    return invalid(path, value, `${path} in body should match '${pattern}'`);
  return undefined;
};

const checkString = (value: string, schema: Schema, path: string): FieldError[] => {
  const { format } = schema;
  const wrong = checkText(value, schema, path);
  const errors = wrong ? [wrong] : [];
  if (format !== undefined && !matchesFormat(value, format))
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  return errors;
};

const keysOf = (item: unknown, keys: readonly string[], schema: Schema): JsonObject =>
  Object.fromEntries(
    keys.map((key) => [key, isObject(item) ? (item[key] ?? schema.items?.properties?.[key]?.default) : undefined]),
  );

const checkUniqueness = (list: readonly unknown[], schema: Schema, path: string): FieldError[] => {
  const kind = schema["x-kubernetes-list-type"];
  const isMap = kind === "map";
  if (!isMap && kind !== "set") return [];
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const identity = isMap ? keysOf(item, schema["x-kubernetes-list-map-keys"] ?? [], schema) : item;
    const text = JSON.stringify(identity);
    if (seen.has(text)) return [duplicate(`${path}[${index}]`, identity)];
    seen.add(text);
    return [];
  });
};

const checkArray = (list: readonly unknown[], schema: Schema, path: string): FieldError[] => {
  const { minItems, maxItems, items } = schema;
  const errors: FieldError[] = [];
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  if (minItems !== undefined && list.length < minItems)
    errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  errors.push(...checkUniqueness(list, schema, path));
  if (items) errors.push(...list.flatMap((item, index) => validate(item, items, `${path}[${index}]`)));
  return errors;
};

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

const checkCount = (value: JsonObject, { minProperties, maxProperties }: Schema, path: string): FieldError[] => {
  const count = Object.keys(value).length;
  if (maxProperties !== undefined && count > maxProperties) return [tooMany(path, count, maxProperties)];
  if (minProperties !== undefined && count < minProperties)
    return [invalid(path, count, `${path} in body should have at least ${minProperties} properties`)];
  return [];
};

const checkObject = (
  { value, old }: { value: JsonObject; old: unknown },
  schema: Schema,
  path: string,
): FieldError[] => {
  const missing = (schema.required ?? []).filter((key) => value[key] === undefined);
  const before = isObject(old) ? old : {};
  return [
    ...checkCount(value, schema, path),
    ...missing.map((key) => required(join(path, key))),
    ...Object.entries(value).flatMap(([key, child]) => {
      const field = fieldSchema(schema, key);
      return field ? validate(child, field, join(path, key), before[key]) : [];
    }),
  ];
};

const checkEnum = (value: unknown, schema: Schema, path: string): FieldError[] => {
  if (!schema.enum || schema.enum.some((allowed) => jsonEqual(allowed, value))) return [];
  return [unsupported(path, value, schema.enum.map(String))];
};

/** Junctors constrain only; their own errors are not shown but for those of allOf. */
const checkJunctors = (value: unknown, schema: Schema, path: string): FieldError[] => {
  const passing = (schemas: readonly Schema[]) =>
    schemas.filter((branch) => validate(value, branch, path).length === 0).length;
  const errors = (schema.allOf ?? []).flatMap((branch) => validate(value, branch, path));
  const shown = JSON.stringify(path);
  if (schema.anyOf && passing(schema.anyOf) === 0)
    errors.push(invalid("<nil>", "", `${shown} must validate at least one schema (anyOf)`));
  if (schema.oneOf) {
    const count = passing(schema.oneOf);
    if (count !== 1)
      errors.push(
        invalid(
          "<nil>",
          "",
          `${shown} must validate one and only one schema (oneOf). Found ${count === 0 ? "none" : count} valid`,
        ),
      );
  }
  if (schema.not && validate(value, schema.not, path).length === 0)
    errors.push(invalid("<nil>", "", `${shown} must not validate the schema (not)`));
  return errors;
};

const checkContent = ({ value, old }: { value: unknown; old: unknown }, schema: Schema, path: string): FieldError[] => {
  if (typeof value === "number") return checkNumber(value, schema, path);
  if (typeof value === "string") return checkString(value, schema, path);
  if (Array.isArray(value)) return checkArray(value, schema, path);
  return isObject(value) ? checkObject({ value, old }, schema, path) : [];
};

/**
 * What is wrong with a value under a structural schema, in the words of kube-openapi's validator.
 * @param old the value before an update: what has not changed may stay as it is, even if a schema that came
 *   later forbids it (CRD validation ratcheting)
 */
export const validate = (value: unknown, schema: Schema, path: string, old?: unknown): FieldError[] => {
  if (old !== undefined && path !== "" && jsonEqual(value, old)) return [];
  const typeErrors = checkType(value, schema, path);
  if (typeErrors.length > 0 || value === null) return typeErrors;
  return [
    ...checkEnum(value, schema, path),
    ...checkContent({ value, old }, schema, path),
    ...checkJunctors(value, schema, path),
  ];
};
