import type { KubeObject, ResourceType } from "../../store/types.js";
import { builtInColumns } from "./built-in-columns.js";
import type { PrinterColumn } from "./columns.js";

interface TableOptions {
  type: ResourceType;
  /** Those of a custom resource definition; absent for built-in kinds. */
  columns: readonly PrinterColumn[] | undefined;
  /** `None`, `Metadata` (when absent) or `Object`: what each row carries beside its cells. */
  includeObject: string | null;
}

const rowObject = (object: KubeObject, include: string | null): object | undefined => {
  if (include === "None") return undefined;
  if (include === "Object") return object;
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
};

/** Objects as a Table of meta.k8s.io/v1. */
export const makeTable = (
  { type, columns, includeObject }: TableOptions,
  list: { metadata: Record<string, unknown>; items: readonly KubeObject[] },
): object => {
  const used = columns ?? builtInColumns(type.kind);
  const now = Date.now();
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: list.metadata,
    columnDefinitions: used.map(({ name, type: valueType, format = "", description, priority }) => ({
      name,
      type: valueType,
      format,
      description,
      priority,
    })),
    rows: list.items.map((item) => {
      const object = rowObject(item, includeObject);
      return { cells: used.map((column) => column.cell(item, now)), ...(object ? { object } : {}) };
    }),
  };
};
