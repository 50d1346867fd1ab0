import type { KubeObject } from "../../../store/types.js";
import { isObject, type JsonObject } from "../../schema/schema.js";
import { at, listAt, textAt } from "../../table/read.js";
import { forbiddenField, invalid, required, tooLong, unsupported, type FieldError } from "../field-error.js";
import type { KindRules } from "../kind-rules.js";
import { checkName } from "../names.js";
import { setDefaults } from "./pod-defaults.js";

const KEY = /^[-._a-zA-Z0-9]+$/;
const MAX_KEY = 253;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const MAX_DATA_BYTES = 1024 * 1024;

const entriesOf = (object: KubeObject, field: string): [string, unknown][] =>
  isObject(object[field]) ? Object.entries(object[field]) : [];

const checkKeys = (object: KubeObject, field: string): FieldError[] =>
  entriesOf(object, field).flatMap(([key]) =>
    key.length <= MAX_KEY && KEY.test(key) ? [] : [invalid(`${field}[${key}]`, key, KEY_RULE)],
  );

const dataIsImmutable = (next: KubeObject, current: KubeObject): FieldError[] => {
  if (current["immutable"] !== true) return [];
  const changed = ["data", "binaryData"].filter(
    (field) => JSON.stringify(next[field]) !== JSON.stringify(current[field]),
  );
  const errors = changed.map((field) => forbiddenField(field, "field is immutable when `immutable` is set"));
  if (next["immutable"] !== true)
    errors.unshift(forbiddenField("immutable", "field is immutable when `immutable` is set"));
  return errors;
};

const mergeStringData = (secret: KubeObject): void => {
  const { stringData } = secret;
  delete secret["stringData"];
  if (!isObject(stringData)) return;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  secret["data"] = { ...(secret["data"] as JsonObject | undefined), ...(Object.fromEntries(encoded) as JsonObject) };
};

const validateSecret = (secret: KubeObject): FieldError[] => {
  const bytes = entriesOf(secret, "data").reduce(
    (sum, [, value]) => sum + Buffer.byteLength(String(value), "base64"),
    0,
  );
  return [...checkKeys(secret, "data"), ...(bytes > MAX_DATA_BYTES ? [tooLong("data", MAX_DATA_BYTES)] : [])];
};

export const SECRET_RULES: Partial<KindRules> = {
  prepare: (draft) => {
    mergeStringData(draft);
    if (!draft["type"]) draft["type"] = "Opaque";
  },
  validate: validateSecret,
  validateUpdate: (next, current) => [
    ...(next["type"] === current["type"] ? [] : [invalid("type", next["type"], "field is immutable")]),
    ...dataIsImmutable(next, current),
  ],
};

export const CONFIG_MAP_RULES: Partial<KindRules> = {
  validate: (map) => {
    const bytes = [...entriesOf(map, "data"), ...entriesOf(map, "binaryData")].reduce(
      (sum, [, value]) => sum + Buffer.byteLength(String(value)),
      0,
    );
    return [
      ...checkKeys(map, "data"),
      ...checkKeys(map, "binaryData"),
      ...(bytes > MAX_DATA_BYTES ? [tooLong("", MAX_DATA_BYTES)] : []),
    ];
  },
  validateUpdate: dataIsImmutable,
};

export const NAMESPACE_RULES: Partial<KindRules> = {
  prepareForCreate: (draft) => {
    draft["spec"] = { finalizers: ["kubernetes"] };
    draft["status"] = { phase: "Active" };
    draft.metadata.labels = { ...draft.metadata.labels, "kubernetes.io/metadata.name": draft.metadata.name };
  },
};

const SESSION_AFFINITIES = ["ClientIP", "None"];

const defaultService = (draft: KubeObject): void => {
  const spec = (draft["spec"] ??= {}) as JsonObject;
  setDefaults(spec, {
    type: "ClusterIP",
    sessionAffinity: "None",
    internalTrafficPolicy: "Cluster",
  });
  for (const port of listAt(spec, "ports")) setDefaults(port, { protocol: "TCP", targetPort: port["port"] });
};

/** Nothing here routes a virtual address, so only headless services mean anything. */
const validateService = (service: KubeObject): FieldError[] => {
  const type = textAt(service, "spec", "type");
  if (type !== "ClusterIP") return [unsupported("spec.type", type, ["ClusterIP"])];
  const address = textAt(service, "spec", "clusterIP");
  const affinity = textAt(service, "spec", "sessionAffinity");
  return [
    ...(address === "None"
      ? []
      : [
          invalid(
            "spec.clusterIP",
            address,
            'the embedded cluster gives services no address of their own: set it to "None" and use the endpoints',
          ),
        ]),
    ...(SESSION_AFFINITIES.includes(affinity)
      ? []
      : [unsupported("spec.sessionAffinity", affinity, SESSION_AFFINITIES)]),
    ...listAt(service, "spec", "ports").flatMap((port, index) => checkServicePort(service, port, index)),
  ];
};

const MAX_PORT = 65535;

const checkServicePort = (service: KubeObject, port: JsonObject, index: number): FieldError[] => {
  const path = `spec.ports[${index}]`;
  const number = port["port"];
  const name = textAt(port, "name");
  const errors: FieldError[] = [];
  if (name === "" && listAt(service, "spec", "ports").length > 1) errors.push(required(`${path}.name`));
  else if (name !== "") errors.push(...checkName(`${path}.name`, name, "label"));
  if (typeof number !== "number" || number < 1 || number > MAX_PORT)
    errors.push(invalid(`${path}.port`, number ?? 0, `must be between 1 and ${MAX_PORT}, inclusive`));
  return errors;
};

export const SERVICE_RULES: Partial<KindRules> = {
  prepare: defaultService,
  finish: (draft) =>
    setDefaults(draft["spec"] as JsonObject, {
      clusterIPs: ["None"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    }),
  prepareForCreate: (draft) => {
    draft["status"] = { loadBalancer: {} };
  },
  validate: validateService,
};

export const LEASE_RULES: Partial<KindRules> = {
  validate: (lease) =>
    ["leaseDurationSeconds", "leaseTransitions"].flatMap((field) => {
      const value = at(lease, "spec", field);
      if (typeof value !== "number") return [];
      if (field === "leaseDurationSeconds")
        return value > 0 ? [] : [invalid(`spec.${field}`, value, "must be greater than 0")];
      return value >= 0 ? [] : [invalid(`spec.${field}`, value, "must be greater than or equal to 0")];
    }),
};

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];

export const ENDPOINT_SLICE_RULES: Partial<KindRules> = {
  prepare: (draft) => {
    for (const port of listAt(draft, "ports")) setDefaults(port, { name: "", protocol: "TCP" });
  },
  validate: (slice) => {
    const type = textAt(slice, "addressType");
    if (type === "") return [required("addressType")];
    return ADDRESS_TYPES.includes(type) ? [] : [unsupported("addressType", type, ADDRESS_TYPES)];
  },
};
