import { BUILT_IN_SCHEMAS } from "./generated/built-in-schemas.js";
import { isObject, type JsonObject, type Schema } from "./schema.js";

const PACKAGES: Readonly<Record<string, string>> = {
  "": "io.k8s.api.core",
  apps: "io.k8s.api.apps",
  autoscaling: "io.k8s.api.autoscaling",
  batch: "io.k8s.api.batch",
  "coordination.k8s.io": "io.k8s.api.coordination",
  "discovery.k8s.io": "io.k8s.api.discovery",
  "networking.k8s.io": "io.k8s.api.networking",
  "rbac.authorization.k8s.io": "io.k8s.api.rbac",
  "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
};

/** The name of a built-in kind's schema in the OpenAPI documents. */
export const schemaName = (group: string, version: string, kind: string): string =>
  `${PACKAGES[group]}.${version}.${kind}`;

export const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const REFERENCE_PREFIX = "#/components/schemas/";
const linked = new Map<string, Schema>();

const referenceOf = (schema: JsonObject): string | undefined => {
  const target = schema["$ref"] ?? (schema["allOf"] as JsonObject[] | undefined)?.[0]?.["$ref"];
  return typeof target === "string" ? target.slice(REFERENCE_PREFIX.length) : undefined;
};

/**
 * A field's own annotations before those of the schema that it refers to. That one is the prototype, because
 * schemas are recursive: it may still be empty at this moment.
 */
const mergeReference = (own: Schema, name: string): Schema => {
  const target = namedSchema(name);
  const merged = Object.create(target) as Schema;
  return Object.assign(merged, own);
};

const link = (raw: JsonObject): Schema => {
  const reference = referenceOf(raw);
  if (reference !== undefined) {
    const { allOf: _allOf, $ref: _ref, ...own } = raw;
    return mergeReference(own, reference);
  }
  const schema: JsonObject = { ...raw };
  if (isObject(raw["properties"]))
    schema["properties"] = Object.fromEntries(
      Object.entries(raw["properties"]).map(([key, value]) => [key, link(value as JsonObject)]),
    );
  for (const key of ["items", "additionalProperties"] as const) if (isObject(raw[key])) schema[key] = link(raw[key]);
  return schema;
};

/** A schema of the OpenAPI documents, its references resolved. */
export const namedSchema = (name: string): Schema => {
  const known = linked.get(name);
  if (known) return known;
  const text = BUILT_IN_SCHEMAS[name];
  if (text === undefined) throw new Error(`no built-in schema is named ${name}`);
  const schema: Schema = {};
  linked.set(name, schema);
  return Object.assign(schema, link(JSON.parse(text) as JsonObject));
};

/** Raw JSON of a schema and of all that it refers to, for OpenAPI documents. */
export const collectRaw = (names: readonly string[]): Record<string, unknown> => {
  const collected: Record<string, unknown> = {};
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const text = BUILT_IN_SCHEMAS[name];
    if (text === undefined || Object.hasOwn(collected, name)) continue;
    collected[name] = JSON.parse(text);
    for (const [, target] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
      if (target !== undefined) pending.push(target);
  }
  return collected;
};
