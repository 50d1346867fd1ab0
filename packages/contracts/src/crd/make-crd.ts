import { API_GROUP, API_VERSION } from "../names.js";
import type { CustomResource } from "./custom-resources.js";
import { toStructuralSchema } from "./structural-schema.js";

const makeSchema = (resource: CustomResource): Record<string, unknown> => ({
  type: "object",
  description: resource.description,
  ...(resource.spec ? { required: ["spec"] } : {}),
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    ...(resource.spec ? { spec: toStructuralSchema(resource.spec) } : {}),
    status: toStructuralSchema(resource.status),
  },
  ...(resource.nameRule ? { "x-kubernetes-validations": [resource.nameRule] } : {}),
});

/** The CustomResourceDefinition of one kind, ready to be written as YAML or applied. */
export const makeCrd = (resource: CustomResource): Record<string, unknown> => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${resource.type.plural}.${API_GROUP}` },
  spec: {
    group: API_GROUP,
    scope: resource.type.namespaced ? "Namespaced" : "Cluster",
    names: {
      kind: resource.type.kind,
      listKind: `${resource.type.kind}List`,
      plural: resource.type.plural,
      singular: resource.singular,
      shortNames: resource.shortNames,
      categories: ["sless"],
    },
    versions: [
      {
        name: API_VERSION,
        served: true,
        storage: true,
        additionalPrinterColumns: resource.columns,
        schema: { openAPIV3Schema: makeSchema(resource) },
        ...(resource.statusSubresource ? { subresources: { status: {} } } : {}),
      },
    ],
  },
});
