const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sameRecords = (a: Record<string, unknown>, b: Record<string, unknown>): boolean => {
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  const others = Object.keys(b).filter((name) => b[name] !== undefined);
  return names.length === others.length && names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]));
};

/**
 * True when two values are the same JSON. Not `isDeepStrictEqual`: that also compares prototypes, and a record that zod
 * has parsed has none, so that equal settings would differ for ever.
 */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]));
  return isRecord(a) && isRecord(b) ? sameRecords(a, b) : a === b;
};
