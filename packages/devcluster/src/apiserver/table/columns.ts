import type { KubeObject } from "../../store/types.js";

/** A column of a Table: what `kubectl get` prints. */
export interface PrinterColumn {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description: string;
  /** 0 is always shown, more only with `-o wide`. */
  priority: number;
  /** The cell of an object; `now` in milliseconds. */
  cell(object: KubeObject, now: number): unknown;
}
