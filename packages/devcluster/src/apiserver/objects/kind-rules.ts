import type { KubeObject } from "../../store/types.js";
import type { PrinterColumn } from "../table/columns.js";
import type { Schema } from "../schema/schema.js";
import type { FieldError } from "./field-error.js";
import type { NameRule } from "./names.js";

/** Where a kind keeps what its Scale shows. */
export interface ScalePaths {
  specReplicas: readonly string[];
  statusReplicas: readonly string[];
  labelSelector: readonly string[] | undefined;
}

/** What sets one kind apart; objects that come in are drafts that may be changed in place. */
export interface KindRules {
  nameRule: NameRule;
  /** The status belongs to its subresource: writers of the object itself cannot change it. */
  statusIsSubresource: boolean;
  /** Whether metadata.generation counts changes of the spec. */
  countsGeneration: boolean;
  /** Of types with a scale subresource. */
  scale?: ScalePaths;
  /** Fields, defaults and how lists merge. */
  schema: Schema;
  /** The schema as its definition has it, of custom resources. */
  customSchema?: Schema;
  /** Of custom resources: what `kubectl get` prints. */
  printerColumns?: readonly PrinterColumn[];
  /** Drops what the kind does not know and fills in defaults. */
  prepare?(draft: KubeObject): void;
  prepareForCreate?(draft: KubeObject): void;
  prepareForUpdate?(draft: KubeObject, current: KubeObject): void;
  /** Fills in what the server gives and nobody manages, after managers have been worked out. */
  finish?(draft: KubeObject): void;
  /** `current` is the state before an update. */
  validate?(object: KubeObject, current?: KubeObject): FieldError[];
  validateUpdate?(next: KubeObject, current: KubeObject): FieldError[];
  /** Told to whoever writes such an object: what this cluster does not do with it. */
  warning?: string;
  /** Seconds that a deletion waits for somebody else to finish it; absent or 0: none. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number;
}
