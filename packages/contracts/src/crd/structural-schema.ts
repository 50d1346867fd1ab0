import { z } from "zod";

/** A node of a structural schema, as a CRD carries it. */
export type StructuralSchema = { [key: string]: unknown };

/** Keys of JSON Schema that a structural schema may not carry, or that only documentation uses. */
const DROPPED = new Set(["$schema", "$ref", "id", "additionalProperties", "propertyNames", "example", "examples"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const cleanMap = (map: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(isObject(map) ? map : {}).map(([name, node]) => [name, clean(node)]));

/** JavaScript's safe-integer bounds mean "any integer"; Kubernetes says so with a format. */
const isSafeIntegerBound = (value: unknown): boolean =>
  typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER;

const cleanEntry = (key: string, value: unknown): [string, unknown][] => {
  if (key === "additionalProperties" && isObject(value)) return [[key, clean(value)]];
  if (DROPPED.has(key)) return [];
  if ((key === "minimum" || key === "maximum") && isSafeIntegerBound(value)) return [];
  if (key === "properties") return [[key, cleanMap(value)]];
  if (key === "items") return [[key, clean(value)]];
  return [[key, value]];
};

const clean = (node: unknown): StructuralSchema => {
  if (!isObject(node)) throw new TypeError("a structural schema has objects at every node");
  if ("anyOf" in node || "oneOf" in node || "allOf" in node || !("type" in node)) {
    throw new TypeError(`not structural: ${JSON.stringify(node).slice(0, 200)}`);
  }
  const cleaned = Object.fromEntries(Object.entries(node).flatMap(([key, value]) => cleanEntry(key, value)));
  return node["type"] === "integer" ? { ...cleaned, format: "int64" } : cleaned;
};

/**
 * The structural schema of a zod schema, as its writers see it: fields with a default are not required. Meta keys such
 * as `x-kubernetes-validations` pass through.
 * @throws TypeError for unions and whatever else Kubernetes would refuse.
 */
export const toStructuralSchema = (schema: z.ZodType): StructuralSchema =>
  clean(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", reused: "inline", unrepresentable: "throw" }));
