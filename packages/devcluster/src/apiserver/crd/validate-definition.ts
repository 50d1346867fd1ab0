import type { KubeObject } from "../../store/types.js";
import { forbiddenField, invalid, required, unsupported, type FieldError } from "../objects/field-error.js";
import { isDnsLabel } from "../objects/names.js";
import { collectRules, compileRule } from "../schema/cel.js";
import type { Schema } from "../schema/schema.js";
import { compileJsonPath } from "../table/json-path.js";
import { definitionSpec, servedVersion, type DefinitionSpec, type DefinitionVersion } from "./definition.js";

const checkNames = (definition: KubeObject, spec: DefinitionSpec): FieldError[] => {
  const { names, group, scope } = spec;
  const errors: FieldError[] = [];
  if (definition.metadata.name !== `${names?.plural}.${group}`)
    errors.push(invalid("metadata.name", definition.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  if (!names?.kind) errors.push(required("spec.names.kind"));
  if (!isDnsLabel(names?.plural ?? ""))
    errors.push(invalid("spec.names.plural", names?.plural ?? "", "must be a lower case DNS label"));
  if (scope !== "Namespaced" && scope !== "Cluster")
    errors.push(unsupported("spec.scope", scope ?? "", ["Cluster", "Namespaced"]));
  return errors;
};

const STRUCTURAL_TYPES = ["object", "array", "string", "integer", "number", "boolean"];

/** Each level of a structural schema says what it is. */
const checkStructure = (schema: Schema, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  const typed = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  if (!schema.type && !typed) errors.push(required(`${path}.type`, "must not be empty for specified object fields"));
  if (schema.type && !STRUCTURAL_TYPES.includes(schema.type))
    errors.push(unsupported(`${path}.type`, schema.type, STRUCTURAL_TYPES));
  if (schema.type === "array" && !schema.items) errors.push(required(`${path}.items`, "must be specified"));
  if (schema.properties && typeof schema.additionalProperties === "object")
    errors.push(
      forbiddenField(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  const children: [string, Schema][] = Object.entries(schema.properties ?? {}).map(([key, child]) => [
    `${path}.properties[${key}]`,
    child,
  ]);
  if (schema.items) children.push([`${path}.items`, schema.items]);
  if (typeof schema.additionalProperties === "object")
    children.push([`${path}.additionalProperties`, schema.additionalProperties]);
  return [...errors, ...children.flatMap(([childPath, child]) => checkStructure(child, childPath))];
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
