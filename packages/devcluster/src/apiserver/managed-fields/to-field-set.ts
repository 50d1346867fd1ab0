import { isObject, type Schema } from "../schema/schema.js";
import { FieldSet } from "./field-set.js";
import { partsOf, shapeOf, type Part } from "./shape.js";

/** Containers are in the set only where the applier means them: keys of maps, items of lists, empty objects. */
const isMeant = ({ element, value, named }: Part): boolean =>
  !element.startsWith("f:") || !named || value === null || (isObject(value) && Object.keys(value).length === 0);

const collect = (value: unknown, schema: Schema | undefined, set: FieldSet): void => {
  if (shapeOf(value, schema) === "atomic") return set.addSelf();
  for (const part of partsOf(value, schema)) {
    const child = set.ensureChild(part.element);
    collect(part.value, part.schema, child);
    if (isMeant(part)) child.addSelf();
  }
};

/** What an applied configuration owns, as structured-merge-diff's ToFieldSet has it. */
export const toFieldSet = (value: unknown, schema: Schema): FieldSet => {
  const set = new FieldSet();
  collect(value, schema, set);
  return set;
};
