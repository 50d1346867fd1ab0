import { createHash } from "node:crypto";
import type { ResourceType } from "../../store/types.js";
import { KUBERNETES_VERSION } from "../schema/generated/built-in-schemas.js";
import { collectRaw, OBJECT_META, schemaName } from "../schema/built-in.js";
import type { Schema } from "../schema/schema.js";
import type { ServedStore } from "../served-store.js";

interface GroupVersion {
  group: string;
  version: string;
}

const pathOf = ({ group, version }: GroupVersion): string =>
  group === "" ? `api/${version}` : `apis/${group}/${version}`;

const gvkOf = (type: ResourceType) => ({ group: type.group, version: type.version, kind: type.kind });

/** `io.kube5s.sless.v1alpha1.Function`: reversed, as the names of custom resources are published. */
const componentName = (type: ResourceType, schema: Schema | undefined): string =>
  schema
    ? `${type.group.split(".").reverse().join(".")}.${type.version}.${type.kind}`
    : schemaName(type.group, type.version, type.kind);

const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

const customComponent = (type: ResourceType, schema: Schema): object => ({
  ...schema,
  properties: {
    ...schema.properties,
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { allOf: [reference(OBJECT_META)] },
  },
  "x-kubernetes-group-version-kind": [gvkOf(type)],
});

const queryParameter = (name: string, type = "string"): object => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});

/** The parameters by which kubectl learns what the server can do (dry run, field validation). */
const PARAMETERS = [
  queryParameter("dryRun"),
  queryParameter("fieldManager"),
  queryParameter("fieldValidation"),
  queryParameter("force", "boolean"),
];

const PATCH_TYPES = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

const operation = (type: ResourceType, component: string, verb: string, bodyTypes: readonly string[]): object => ({
  operationId: `${verb}${type.kind}`,
  ...(bodyTypes.length > 0
    ? {
        parameters: PARAMETERS,
        requestBody: {
          content: Object.fromEntries(bodyTypes.map((name) => [name, { schema: reference(component) }])),
        },
      }
    : {}),
  responses: {
    200: { description: "OK", content: { "application/json": { schema: reference(component) } } },
  },
  "x-kubernetes-action": verb,
  "x-kubernetes-group-version-kind": gvkOf(type),
});

const makePaths = (type: ResourceType, component: string): Record<string, object> => {
  const root = `/${pathOf(type)}${type.namespaced ? "/namespaces/{namespace}" : ""}/${type.plural}`;
  return {
    [root]: { post: operation(type, component, "post", ["application/json"]) },
    [`${root}/{name}`]: {
      get: operation(type, component, "get", []),
      put: operation(type, component, "put", ["application/json"]),
      patch: operation(type, component, "patch", PATCH_TYPES),
      delete: operation(type, component, "delete", []),
    },
  };
};

/** `/openapi/v3/…`: the schemas and paths of one version of a group; undefined when it is not served. */
export const makeOpenApiDocument = (groupVersionPath: string, store: ServedStore): object | undefined => {
  const types = store.resourceTypes().filter((type) => pathOf(type) === groupVersionPath);
  if (types.length === 0) return undefined;
  const paths: Record<string, object> = {};
  const schemas: Record<string, unknown> = collectRaw([OBJECT_META]);
  for (const type of types) {
    const schema = store.find(type)?.rules.customSchema;
    const component = componentName(type, schema);
    Object.assign(paths, makePaths(type, component));
    if (schema) schemas[component] = customComponent(type, schema);
    else Object.assign(schemas, collectRaw([component]));
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: KUBERNETES_VERSION },
    paths,
    components: { schemas },
  };
};

/** `/openapi/v3`: which documents there are, each with a hash that changes with it. */
export const makeOpenApiIndex = (store: ServedStore): object => {
  const paths = [...new Set(store.resourceTypes().map(pathOf))].map((path) => {
    const hash = createHash("sha256")
      .update(JSON.stringify(makeOpenApiDocument(path, store)))
      .digest("hex");
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(paths) as Record<string, object> };
};
