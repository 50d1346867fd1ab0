/** A rule in CEL, of `x-kubernetes-validations`. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/**
 * A structural schema: what a custom resource definition holds, and what built-in kinds are described by here.
 * The graph of a built-in kind has cycles.
 */
export interface Schema {
  type?: string;
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  default?: unknown;
  nullable?: boolean;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-validations"?: ValidationRule[];
}

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The schema of a field of an object; undefined when the schema does not know it. */
export const fieldSchema = (schema: Schema | undefined, key: string): Schema | undefined => {
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const rest = schema?.additionalProperties;
  return typeof rest === "object" ? rest : undefined;
};

/** Whether anything may stand below: no fields are known, so none is unknown. */
export const isOpen = (schema: Schema): boolean =>
  schema["x-kubernetes-preserve-unknown-fields"] === true ||
  schema.additionalProperties === true ||
  (schema.properties === undefined && schema.additionalProperties === undefined);
