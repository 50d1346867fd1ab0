import { didYouMean, type FieldError } from "@sless/contracts";
import { z } from "zod";
import { InvalidRequest } from "../errors.js";
import { pointerTo } from "./json-guard.js";

type Issue = z.core.$ZodIssue;

/** The schema below optional, nullable and default. */
const unwrap = (schema: z.ZodType | undefined): z.ZodType | undefined => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema;
};

const childOf = (schema: z.ZodType | undefined, key: PropertyKey): z.ZodType | undefined => {
  const parent = unwrap(schema);
  if (parent instanceof z.ZodObject) return (parent.shape as Record<string, z.ZodType>)[String(key)];
  if (parent instanceof z.ZodArray) return parent.element as z.ZodType;
  return undefined;
};

const schemaAt = (schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined =>
  path.reduce<z.ZodType | undefined>(childOf, schema);

const knownFields = (schema: z.ZodType | undefined): string[] => {
  const object = unwrap(schema);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
};

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items", set: " items" };

const explainType = (issue: Issue & { code: "invalid_type" }): string => {
  if (issue.message.endsWith("received undefined")) return "is required";
  if (issue.expected === "int") return "must be a whole number";
  return `must be ${/^[aeiou]/.test(issue.expected) ? "an" : "a"} ${issue.expected}`;
};

const explainFormat = (at: z.ZodType | undefined): string => {
  const description = unwrap(at)?.meta()?.description;
  return description === undefined ? "has an invalid form" : `has an invalid form. It is: ${description}`;
};

/** Zod's issue as a person would say it: what the field must be. */
const explain = (issue: Issue, at: z.ZodType | undefined): string => {
  switch (issue.code) {
    case "too_small":
      return `must be at least ${String(issue.minimum)}${UNITS[issue.origin] ?? ""}`;
    case "too_big":
      return `must be at most ${String(issue.maximum)}${UNITS[issue.origin] ?? ""}`;
    case "invalid_type":
      return explainType(issue);
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => String(value)).join(", ")}`;
    case "invalid_format":
      return explainFormat(at);
    default:
      return issue.message;
  }
};

const unknownField = (key: string, known: readonly string[]): string => {
  const meant = didYouMean(key, known);
  return `is not a known field${meant === undefined ? "" : `; did you mean ${meant}?`}`;
};

const MAX_FIELD_ERRORS = 50;

const toFieldErrors = (
  issue: Issue,
  schema: z.ZodType,
  makePointer: (path: readonly PropertyKey[]) => string,
): FieldError[] => {
  if (issue.code === "unrecognized_keys") {
    const known = knownFields(schemaAt(schema, issue.path));
    return issue.keys.map((key) => ({
      pointer: makePointer([...issue.path, key]).slice(0, 300),
      message: unknownField(key, known),
    }));
  }
  return [{ pointer: makePointer(issue.path).slice(0, 300), message: explain(issue, schemaAt(schema, issue.path)) }];
};

const jsonPointer = (path: readonly PropertyKey[]): string => path.reduce<string>(pointerTo, "");
const parameterName = (path: readonly PropertyKey[]): string => path.map(String).join(".");

const parse = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  makePointer: (path: readonly PropertyKey[]) => string,
): z.output<S> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const fields = result.error.issues
    .flatMap((issue) => toFieldErrors(issue, schema, makePointer))
    .slice(0, MAX_FIELD_ERRORS);
  const text = fields.map(({ pointer, message }) => `${pointer || "The body"} ${message}`).join(". ");
  throw new InvalidRequest(`${text.slice(0, 2000)}.`, fields);
};

/**
 * Reads a body by its schema.
 * @throws InvalidRequest naming every wrong field by JSON pointer.
 */
export const parseBody = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> =>
  parse(schema, value, jsonPointer);

/**
 * Reads a query by its schema; unknown and repeated parameters are refused.
 * @throws InvalidRequest naming every wrong parameter.
 */
export const parseQuery = <T extends z.ZodRawShape>(schema: z.ZodObject<T>, url: string): z.output<z.ZodObject<T>> => {
  const start = url.indexOf("?");
  const query = new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
  const values = Object.create(null) as Record<string, string>;
  const repeated: FieldError[] = [];
  for (const [name, value] of query) {
    if (name in values) repeated.push({ pointer: name.slice(0, 300), message: "is given more than once" });
    values[name] = value;
  }
  if (repeated.length > 0)
    throw new InvalidRequest("A query parameter is given more than once.", repeated.slice(0, MAX_FIELD_ERRORS));
  return parse(z.strictObject(schema.shape), { ...values }, parameterName);
};
