import { jsonEqual } from "../../store/json-equal.js";
import type { Schema } from "../schema/schema.js";
import { FieldSet } from "./field-set.js";
import { isEmptyContainer, partsOf, shapeOf, type Part } from "./shape.js";

export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

const isLeaf = (before: unknown, after: unknown, schema: Schema | undefined): boolean => {
  const present = [before, after].filter((value) => value !== undefined);
  return (
    present.some((value) => shapeOf(value, schema) === "atomic") || present.every((value) => isEmptyContainer(value))
  );
};

const compareParts = (
  pair: { before: unknown; after: unknown },
  schema: Schema | undefined,
  into: Comparison,
): void => {
  const before = pair.before === undefined ? [] : partsOf(pair.before, schema);
  const after = pair.after === undefined ? [] : partsOf(pair.after, schema);
  const earlier = new Map(before.map((part) => [part.element, part]));
  const later = new Map(after.map((part) => [part.element, part]));
  for (const part of new Map<string, Part>([...earlier, ...later]).values()) {
    const { element } = part;
    const below = {
      added: into.added.ensureChild(element),
      modified: into.modified.ensureChild(element),
      removed: into.removed.ensureChild(element),
    };
    walk({ before: earlier.get(element)?.value, after: later.get(element)?.value }, part.schema, below);
  }
};

const walk = (pair: { before: unknown; after: unknown }, schema: Schema | undefined, into: Comparison): void => {
  const { before, after } = pair;
  if (before === undefined) into.added.addSelf();
  else if (after === undefined) into.removed.addSelf();
  if (!isLeaf(before, after, schema)) compareParts(pair, schema, into);
  else if (before !== undefined && after !== undefined && !jsonEqual(before, after)) into.modified.addSelf();
};

/** Which fields differ between two states, containers that come or go among them. */
export const compare = (before: unknown, after: unknown, schema: Schema): Comparison => {
  const comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  walk({ before, after }, schema, comparison);
  return comparison;
};
