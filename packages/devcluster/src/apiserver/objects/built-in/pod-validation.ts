import { isObject, type JsonObject } from "../../schema/schema.js";
import { listAt, textAt } from "../../table/read.js";
import { duplicate, invalid, required, unsupported, type FieldError } from "../field-error.js";
import { checkName, checkQualifiedName } from "../names.js";

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?\d+))?$/;
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const MAX_PORT = 65535;

/** Quantities as resource.ParseQuantity reads them. */
export const checkQuantities = (values: unknown, path: string): FieldError[] => {
  if (!isObject(values)) return [];
  return Object.entries(values).flatMap(([name, quantity]) => [
    ...checkQualifiedName(path, name),
    ...(QUANTITY.test(String(quantity))
      ? []
      : [
          invalid(
            `${path}[${name}]`,
            quantity,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
          ),
        ]),
  ]);
};

const checkPort = (port: JsonObject, path: string): FieldError[] => {
  const number = port["containerPort"];
  if (number === undefined || number === 0) return [required(`${path}.containerPort`)];
  if (typeof number === "number" && number >= 1 && number <= MAX_PORT) return [];
  return [invalid(`${path}.containerPort`, number, `must be between 1 and ${MAX_PORT}, inclusive`)];
};

const checkEnv = (variable: JsonObject, path: string): FieldError[] => {
  const name = textAt(variable, "name");
  if (name === "") return [required(`${path}.name`)];
  const errors: FieldError[] = [];
  if (!ENV_NAME.test(name))
    errors.push(
      invalid(
        `${path}.name`,
        name,
        "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
      ),
    );
  if (variable["valueFrom"] !== undefined && textAt(variable, "value") !== "")
    errors.push(invalid(`${path}.valueFrom`, "", "may not be specified when `value` is not empty"));
  return errors;
};

const checkMounts = (container: JsonObject, volumes: ReadonlySet<string>, path: string): FieldError[] =>
  listAt(container, "volumeMounts").flatMap((mount, index) => {
    const where = `${path}.volumeMounts[${index}]`;
    const name = textAt(mount, "name");
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${where}.name`));
    else if (!volumes.has(name))
      errors.push({
        field: `${where}.name`,
        reason: "FieldValueNotFound",
        message: `Not found: ${JSON.stringify(name)}`,
      });
    if (textAt(mount, "mountPath") === "") errors.push(required(`${where}.mountPath`));
    return errors;
  });

const checkContainer = (container: JsonObject, volumes: ReadonlySet<string>, path: string): FieldError[] => {
  const name = textAt(container, "name");
  return [
    ...(name === "" ? [required(`${path}.name`)] : checkName(`${path}.name`, name, "label")),
    ...(textAt(container, "image") === "" ? [required(`${path}.image`)] : []),
    ...listAt(container, "ports").flatMap((port, index) => checkPort(port, `${path}.ports[${index}]`)),
    ...listAt(container, "env").flatMap((variable, index) => checkEnv(variable, `${path}.env[${index}]`)),
    ...checkMounts(container, volumes, path),
    ...["limits", "requests"].flatMap((part) =>
      checkQuantities((container["resources"] as JsonObject | undefined)?.[part], `${path}.resources.${part}`),
    ),
  ];
};

const findDuplicates = (items: readonly JsonObject[], path: string): FieldError[] => {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = textAt(item, "name");
    const again = name !== "" && seen.has(name);
    seen.add(name);
    return again ? [duplicate(`${path}[${index}].name`, name)] : [];
  });
};

const checkVolumes = (volumes: readonly JsonObject[], path: string): FieldError[] => [
  ...volumes.flatMap((volume, index) => {
    const name = textAt(volume, "name");
    return name === "" ? [required(`${path}[${index}].name`)] : checkName(`${path}[${index}].name`, name, "label");
  }),
  ...findDuplicates(volumes, path),
];

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];

/** What is wrong with a pod's spec, as far as pods here depend on it. */
export const validatePodSpec = (
  spec: unknown,
  path: string,
  restartPolicies: readonly string[] = RESTART_POLICIES,
): FieldError[] => {
  const containers = listAt(spec, "containers");
  const volumes = listAt(spec, "volumes");
  const names = new Set(volumes.map((volume) => textAt(volume, "name")));
  const policy = textAt(spec, "restartPolicy");
  const all = (list: string) =>
    listAt(spec, list).flatMap((container, index) => checkContainer(container, names, `${path}.${list}[${index}]`));
  return [
    ...checkVolumes(volumes, `${path}.volumes`),
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...all("containers"),
    ...findDuplicates(containers, `${path}.containers`),
    ...all("initContainers"),
    ...(restartPolicies.includes(policy) ? [] : [unsupported(`${path}.restartPolicy`, policy, restartPolicies)]),
  ];
};
