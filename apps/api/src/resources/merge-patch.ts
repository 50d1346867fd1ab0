import { isDeepStrictEqual } from "node:util";

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies a JSON merge patch (RFC 7396) to a copy. Names that reach a prototype are refused before, when parsing. */
export const applyMergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else if (value !== undefined) result.set(key, applyMergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
};

/** The merge patch that turns `from` into `to`, with nothing in it that is the same: others' fields stay theirs. */
export const makeMergePatch = (from: JsonObject, to: JsonObject): Record<string, unknown> => {
  const patch = new Map<string, unknown>();
  for (const key of Object.keys(from)) {
    if (to[key] === undefined && from[key] !== undefined) patch.set(key, null);
  }
  for (const [key, wanted] of Object.entries(to)) {
    const has = from[key];
    if (wanted === undefined || isDeepStrictEqual(has, wanted)) continue;
    patch.set(key, isObject(has) && isObject(wanted) ? makeMergePatch(has, wanted) : wanted);
  }
  return Object.fromEntries(patch);
};
