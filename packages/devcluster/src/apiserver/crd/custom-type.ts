import type { KubeObject, ResourceType, Subresource } from "../../store/types.js";
import type { FieldError } from "../objects/field-error.js";
import { invalid } from "../objects/field-error.js";
import type { KindRules, ScalePaths } from "../objects/kind-rules.js";
import { ALL_VERBS } from "../resource-table.js";
import { namedSchema, OBJECT_META } from "../schema/built-in.js";
import { checkValidations } from "../schema/cel.js";
import { fillDefaults } from "../schema/defaults.js";
import { prune } from "../schema/prune.js";
import type { Schema } from "../schema/schema.js";
import { validate } from "../schema/validate.js";
import { builtInColumns } from "../table/built-in-columns.js";
import type { PrinterColumn } from "../table/columns.js";
import { humanAge } from "../table/duration.js";
import { compileJsonPath } from "../table/json-path.js";
import type { ServedType } from "../type-catalogue.js";
import { definitionSpec, servedVersion, type ColumnDefinition, type DefinitionVersion } from "./definition.js";

const makeType = (definition: KubeObject, version: DefinitionVersion): ResourceType => {
  const { group, names, scope } = definitionSpec(definition);
  const subresources: Subresource[] = [
    ...(version.subresources?.scale ? (["scale"] as const) : []),
    ...(version.subresources?.status ? (["status"] as const) : []),
  ];
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    namespaced: scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: ALL_VERBS,
    subresources,
  };
};

const makeCell = ({ type, jsonPath }: ColumnDefinition): PrinterColumn["cell"] => {
  const find = compileJsonPath(jsonPath);
  if (type === "date")
    return (object, now) => {
      const time = find(object);
      return typeof time === "string" ? humanAge(time, now) : null;
    };
  return (object) => {
    const value = find(object);
    if (value === undefined || value === null) return null;
    return typeof value === "object" ? JSON.stringify(value) : value;
  };
};

const makeColumns = (definitions: readonly ColumnDefinition[]): PrinterColumn[] => [
  ...builtInColumns("").slice(0, 1),
  ...definitions.map((definition) => ({
    name: definition.name,
    type: definition.type as PrinterColumn["type"],
    format: definition.format ?? "",
    description:
      definition.description ?? `Custom resource definition column (in JSONPath format): ${definition.jsonPath}`,
    priority: definition.priority ?? 0,
    cell: makeCell(definition),
  })),
];

const splitPath = (path: string): string[] => path.split(".").filter(Boolean);

const makeScale = (version: DefinitionVersion): ScalePaths | undefined => {
  const scale = version.subresources?.scale;
  return (
    scale && {
      specReplicas: splitPath(scale.specReplicasPath),
      statusReplicas: splitPath(scale.statusReplicasPath),
      labelSelector: scale.labelSelectorPath ? splitPath(scale.labelSelectorPath) : undefined,
    }
  );
};

/** Errors after which kube-apiserver does not run CEL, since rules may rely on what is missing. */
const BLOCKING: readonly FieldError["reason"][] = [
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
];

const hasRules = (schema: Schema): boolean => JSON.stringify(schema).includes('"x-kubernetes-validations"');

const makeValidate = (schema: Schema): NonNullable<KindRules["validate"]> => {
  const ruled = hasRules(schema);
  return (object, current) => {
    const errors = validate(object, schema, "", current);
    if (!ruled) return errors;
    if (errors.some(({ reason }) => BLOCKING.includes(reason)))
      return [
        ...errors,
        invalid(
          "<nil>",
          null,
          "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ),
      ];
    return [...errors, ...checkValidations({ value: object, old: current }, schema, "")];
  };
};

/** What a definition declares, ready to be served; undefined when it serves no version. */
export const makeCustomType = (definition: KubeObject): ServedType | undefined => {
  const version = servedVersion(definitionSpec(definition));
  if (!version) return undefined;
  const type = makeType(definition, version);
  const schema = version.schema?.openAPIV3Schema ?? { "x-kubernetes-preserve-unknown-fields": true };
  const scale = makeScale(version);
  const columns = version.additionalPrinterColumns;
  const rules: KindRules = {
    schema: { ...schema, properties: { ...schema.properties, metadata: namedSchema(OBJECT_META) } },
    customSchema: schema,
    nameRule: "subdomain",
    statusIsSubresource: type.subresources.includes("status"),
    countsGeneration: true,
    ...(scale ? { scale } : {}),
    printerColumns: columns ? makeColumns(columns) : builtInColumns(""),
    prepare: (draft) => {
      prune(draft, schema);
      fillDefaults(draft, schema);
    },
    validate: makeValidate(schema),
  };
  return { type, rules };
};
