/** The handler returned what cannot be made into an answer. Its message names the type and what to return instead. */
export class BadResult extends Error {
  override readonly name = "BadResult";
}

/** The name under which a user knows the type of a value. */
export const typeName = (value: unknown): string => {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return (value as { constructor?: { name?: string } }).constructor?.name ?? "Object";
};
