import type { KubeObject, ResourceType } from "../../store/types.js";
import type { FieldError } from "./field-error.js";
import type { NameRule } from "./names.js";

/** What sets one kind apart; objects that come in are drafts that may be changed in place. */
export interface KindRules {
  nameRule: NameRule;
  /** The status belongs to its subresource: writers of the object itself cannot change it. */
  statusIsSubresource: boolean;
  /** Whether metadata.generation counts changes of the spec. */
  countsGeneration: boolean;
  /** Drops what the kind does not know and fills in defaults. */
  prepare?(draft: KubeObject): void;
  prepareForCreate?(draft: KubeObject): void;
  prepareForUpdate?(draft: KubeObject, current: KubeObject): void;
  validate?(object: KubeObject): FieldError[];
  validateUpdate?(next: KubeObject, current: KubeObject): FieldError[];
  /** Seconds that a deletion waits for somebody else to finish it; absent or 0: none. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number;
}

/** Finds the rules of a type; each type in the table has some. */
export type RulesOf = (type: ResourceType) => KindRules;
