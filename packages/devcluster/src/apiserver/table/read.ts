type Json = Record<string, unknown>;

/** Reads nested JSON that may be absent at any level: `at(pod, "status", "podIP")`. */
export const at = (value: unknown, ...path: readonly string[]): unknown => {
  let current = value;
  for (const key of path) {
    if (current === null || typeof current !== "object") return undefined;
    current = (current as Json)[key];
  }
  return current;
};

export const listAt = (value: unknown, ...path: readonly string[]): Json[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as Json[]) : [];
};

export const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? String(found) : "";
};

export const textsAt = (value: unknown, ...path: readonly string[]): string[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.map(String) : [];
};

export const numberAt = (value: unknown, ...path: readonly string[]): number => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
};
