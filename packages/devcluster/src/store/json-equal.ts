const isContainer = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === "object";

const sameFields = (a: Record<string, unknown>, b: Record<string, unknown>): boolean =>
  Object.keys(a).every((key) => jsonEqual(a[key], b[key])) &&
  Object.keys(b).every((key) => b[key] === undefined || a[key] !== undefined);

/**
 * Whether two JSON values are the same; a field that is undefined counts as absent. Unlike node:util's strict
 * comparison this does not look at prototypes, which differ between realms (structuredClone in a test's VM).
 */
export const jsonEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => jsonEqual(item, (b as unknown[])[index]))
    );
  return isContainer(a) && isContainer(b) && sameFields(a, b);
};
