import type { KubeObject } from "../../store/types.js";
import type { Schema } from "../schema/schema.js";

/** `spec` of a CustomResourceDefinition, as far as it is used here. */
export interface DefinitionSpec {
  group: string;
  scope: "Namespaced" | "Cluster";
  names: {
    plural: string;
    singular?: string;
    kind: string;
    listKind?: string;
    shortNames?: string[];
    categories?: string[];
  };
  versions: DefinitionVersion[];
  conversion?: { strategy?: string };
  preserveUnknownFields?: boolean;
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: ColumnDefinition[];
  selectableFields?: { jsonPath: string }[];
  deprecated?: boolean;
  deprecationWarning?: string;
}

export interface ColumnDefinition {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

export const definitionSpec = (definition: KubeObject): DefinitionSpec => definition["spec"] as DefinitionSpec;

/** The one version that is served and stored; validation has refused any others. */
export const servedVersion = (spec: DefinitionSpec): DefinitionVersion | undefined =>
  spec.versions.find(({ served, storage }) => served && storage);
