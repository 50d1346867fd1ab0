import type { KubeObject } from "../../store/types.js";
import { forbiddenField, invalid, required, unsupported, type FieldError } from "../objects/field-error.js";
import { isDnsLabel } from "../objects/names.js";
import { collectRules, compileRule } from "../schema/cel.js";
import type { Schema } from "../schema/schema.js";
import { compileJsonPath } from "../table/json-path.js";
import { definitionSpec, servedVersion, type DefinitionSpec, type DefinitionVersion } from "./definition.js";

const SCOPES = ["Cluster", "Namespaced"];

const checkNames = (definition: KubeObject, spec: DefinitionSpec): FieldError[] => {
  const { group, scope = "" } = spec;
  const { plural = "", kind = "" } = (spec.names ?? {}) as Partial<DefinitionSpec["names"]>;
  const { name } = definition.metadata;
  return [
    ...(name === `${plural}.${group}`
      ? []
      : [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]),
    ...(kind === "" ? [required("spec.names.kind")] : []),
    ...(isDnsLabel(plural) ? [] : [invalid("spec.names.plural", plural, "must be a lower case DNS label")]),
    ...(SCOPES.includes(scope) ? [] : [unsupported("spec.scope", scope, SCOPES)]),
  ];
};

const STRUCTURAL_TYPES = ["object", "array", "string", "integer", "number", "boolean"];

/** Each level of a structural schema says what it is. */
const checkLevel = (schema: Schema, path: string): FieldError[] => {
  const { type, items, properties, additionalProperties } = schema;
  const untyped = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  if (type === undefined)
    return untyped ? [] : [required(`${path}.type`, "must not be empty for specified object fields")];
  if (!STRUCTURAL_TYPES.includes(type)) return [unsupported(`${path}.type`, type, STRUCTURAL_TYPES)];
  if (type === "array" && !items) return [required(`${path}.items`, "must be specified")];
  if (properties && typeof additionalProperties === "object")
    return [forbiddenField(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive")];
  return [];
};

const checkStructure = (schema: Schema, path: string): FieldError[] => {
  const { items, properties, additionalProperties } = schema;
  const children: [string, Schema][] = Object.entries(properties ?? {}).map(([key, child]) => [
    `${path}.properties[${key}]`,
    child,
  ]);
  if (items) children.push([`${path}.items`, items]);
  if (typeof additionalProperties === "object") children.push([`${path}.additionalProperties`, additionalProperties]);
  return [...checkLevel(schema, path), ...children.flatMap(([childPath, child]) => checkStructure(child, childPath))];
};

const explain = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

const checkRules = (schema: Schema, path: string): FieldError[] =>
  collectRules(schema, path).flatMap(({ rule, path: where }) => {
    try {
      compileRule(rule);
      return [];
    } catch (error) {
      return [invalid(where, rule, `compilation failed: ${explain(error)}`)];
    }
  });

const checkColumns = (version: DefinitionVersion, path: string): FieldError[] =>
  (version.additionalPrinterColumns ?? []).flatMap(({ jsonPath }, index) => {
    try {
      compileJsonPath(jsonPath);
      return [];
    } catch (error) {
      return [invalid(`${path}.additionalPrinterColumns[${index}].jsonPath`, jsonPath, explain(error))];
    }
  });

const checkVersion = (version: DefinitionVersion, path: string): FieldError[] => {
  const schema = version.schema?.openAPIV3Schema;
  if (!schema) return [required(`${path}.schema.openAPIV3Schema`, "schemas are required")];
  const schemaPath = `${path}.schema.openAPIV3Schema`;
  if (schema.type !== "object")
    return [invalid(`${schemaPath}.type`, schema.type ?? "", 'must be "object" at the root')];
  return [...checkStructure(schema, schemaPath), ...checkRules(schema, schemaPath), ...checkColumns(version, path)];
};

/** What this cluster cannot do is refused, so that nobody relies on it. */
const checkScope = (spec: DefinitionSpec): FieldError[] => {
  const errors: FieldError[] = [];
  const served = (spec.versions ?? []).filter((version) => version.served);
  if (served.length > 1)
    errors.push(forbiddenField("spec.versions", "the embedded cluster serves one version of a resource, not several"));
  if (spec.conversion?.strategy === "Webhook")
    errors.push(forbiddenField("spec.conversion.strategy", "the embedded cluster converts by no webhook"));
  if (spec.preserveUnknownFields === true)
    errors.push(
      invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  return errors;
};

/** What is wrong with a CustomResourceDefinition. */
export const validateDefinition = (definition: KubeObject): FieldError[] => {
  const spec = definitionSpec(definition);
  if (!spec) return [required("spec")];
  if (!spec.versions?.length)
    return [required("spec.versions", "must have exactly one version marked as storage version")];
  const errors = [...checkNames(definition, spec), ...checkScope(spec)];
  if (!servedVersion(spec))
    errors.push(
      invalid(
        "spec.versions",
        spec.versions.map(({ name }) => name),
        "the stored version must be served",
      ),
    );
  return [...errors, ...spec.versions.flatMap((version, index) => checkVersion(version, `spec.versions[${index}]`))];
};
