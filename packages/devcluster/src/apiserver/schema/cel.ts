import { Environment } from "@marcbachmann/cel-js";
import type { FieldError } from "../objects/field-error.js";
import { registerKubernetesFunctions } from "./cel-functions.js";
import { fieldSchema, isObject, type Schema, type ValidationRule } from "./schema.js";

type Program = (context: Record<string, unknown>) => unknown;

const environment = registerKubernetesFunctions(
  new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, enableOptionalTypes: true }),
);

const programs = new Map<string, Program>();
const MAX_PROGRAMS = 2000;

/** Compiles a rule; throws what the parser or type checker finds. */
export const compileRule = (rule: string): Program => {
  const known = programs.get(rule);
  if (known) return known;
  const parsed = environment.parse(rule);
  const checked = parsed.check();
  if (!checked.valid) throw new Error(checked.error?.message ?? "the rule has a type error");
  if (programs.size >= MAX_PROGRAMS) programs.clear();
  programs.set(rule, parsed as Program);
  return parsed as Program;
};

const isTransition = ({ rule }: ValidationRule): boolean => /\boldSelf\b/.test(rule);

/** JSON as CEL sees it under a schema: whole numbers are int, not double, unless the schema says number. */
const toCel = (value: unknown, schema: Schema | undefined): unknown => {
  if (typeof value === "number") return Number.isInteger(value) && schema?.type !== "number" ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => toCel(item, schema?.items));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toCel(child, fieldSchema(schema, key))]));
};

/** Text of the failure in kube-apiserver's words. */
const messageOf = (rule: ValidationRule, context: Record<string, unknown>): string => {
  if (rule.messageExpression) {
    try {
      const message = compileRule(rule.messageExpression)(context);
      if (typeof message === "string" && message.trim() !== "") return message;
    } catch {
      // Kubernetes falls back to the plain message too.
    }
  }
  return rule.message ?? `failed rule: ${rule.rule}`;
};

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0]?.toLowerCase() ?? "";

const REASONS: Readonly<Record<string, FieldError["reason"]>> = {
  FieldValueInvalid: "FieldValueInvalid",
  FieldValueForbidden: "FieldValueForbidden",
  FieldValueRequired: "FieldValueRequired",
  FieldValueDuplicate: "FieldValueDuplicate",
};

const toError = (rule: ValidationRule, schema: Schema, path: string, detail: string): FieldError => {
  const field = rule.fieldPath ? `${path}${rule.fieldPath}` : path || "<nil>";
  const shown = JSON.stringify(schema.type ?? "object");
  const reason = REASONS[rule.reason ?? "FieldValueInvalid"] ?? "FieldValueInvalid";
  const message =
    reason === "FieldValueForbidden"
      ? `Forbidden: ${detail}`
      : reason === "FieldValueRequired"
        ? `Required value: ${detail}`
        : reason === "FieldValueDuplicate"
          ? `Duplicate value: ${shown}`
          : `Invalid value: ${shown}: ${detail}`;
  return { field, reason, message };
};

interface Pair {
  value: unknown;
  /** The same thing before an update, where it can be told which that is. */
  old: unknown;
}

const checkRules = ({ value, old }: Pair, schema: Schema, path: string): FieldError[] =>
  (schema["x-kubernetes-validations"] ?? []).flatMap((rule) => {
    if (isTransition(rule) && old === undefined && !rule.optionalOldSelf) return [];
    const context = { self: toCel(value, schema), oldSelf: toCel(old, schema) };
    try {
      if (compileRule(rule.rule)(context) === true) return [];
    } catch (error) {
      const detail = `${firstLine(error)} evaluating rule: ${rule.message ?? rule.rule}`;
      return [toError(rule, schema, path, detail)];
    }
    return [toError(rule, schema, path, messageOf(rule, context))];
  });

/** The item of the earlier list with the same keys; items of other lists cannot be told apart over time. */
const earlierItem = (item: unknown, old: unknown, schema: Schema): unknown => {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(old) || !isObject(item)) return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return (old as unknown[]).find(
    (candidate) => isObject(candidate) && keys.every((key) => candidate[key] === item[key]),
  );
};

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

const checkChildren = ({ value, old }: Pair, schema: Schema, path: string): FieldError[] => {
  const { items } = schema;
  if (Array.isArray(value) && items)
    return value.flatMap((item, index) =>
      checkValidations({ value: item, old: earlierItem(item, old, schema) }, items, `${path}[${index}]`),
    );
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const field = fieldSchema(schema, key);
    if (!field) return [];
    const before = isObject(old) ? old[key] : undefined;
    return checkValidations({ value: child, old: before }, field, join(path, key));
  });
};

/** What the CEL rules of a schema find, at every level; rules on oldSelf only where there is an earlier value. */
export const checkValidations = (pair: Pair, schema: Schema, path: string): FieldError[] =>
  pair.value === null ? [] : [...checkRules(pair, schema, path), ...checkChildren(pair, schema, path)];

/** All rules of a schema with their paths, for compiling them when the schema is declared. */
export const collectRules = (schema: Schema, path: string): { rule: string; path: string }[] => [
  ...(schema["x-kubernetes-validations"] ?? []).map(({ rule }, index) => ({
    rule,
    path: `${path}.x-kubernetes-validations[${index}].rule`,
  })),
  ...Object.entries(schema.properties ?? {}).flatMap(([key, field]) =>
    collectRules(field, `${path}.properties[${key}]`),
  ),
  ...(schema.items ? collectRules(schema.items, `${path}.items`) : []),
  ...(typeof schema.additionalProperties === "object"
    ? collectRules(schema.additionalProperties, `${path}.additionalProperties`)
    : []),
];
