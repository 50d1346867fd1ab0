import { digestOf } from "../projection.js";

type JsonRecord = Record<string, unknown>;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNamedList = (value: unknown): value is { name: string }[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isRecord(item) && typeof item["name"] === "string");

const equal = (a: unknown, b: unknown): boolean => digestOf(a) === digestOf(b);

/** Named lists as records, so that one walk serves both. */
const asRecord = (value: unknown): JsonRecord | undefined => {
  if (isRecord(value)) return value;
  return isNamedList(value) ? Object.fromEntries(value.map((item) => [item.name, item])) : undefined;
};

const fromRecord = (record: JsonRecord, like: unknown): unknown =>
  Array.isArray(like) ? Object.values(record) : record;

/**
 * Server-side apply as far as reconcilers can tell: what is wished is set, what the same manager wished before and does
 * not any more is removed, everything else stays. Lists whose items have names are merged by name, others replaced.
 */
export const mergeApplied = (live: unknown, wish: unknown, before: unknown): unknown => {
  const [liveFields, wishFields] = [asRecord(live), asRecord(wish)];
  if (!liveFields || !wishFields) return structuredClone(wish);
  const beforeFields = asRecord(before) ?? {};
  const kept = Object.entries(liveFields).filter(([name]) => name in wishFields || !(name in beforeFields));
  const merged: JsonRecord = Object.fromEntries(kept);
  for (const [name, value] of Object.entries(wishFields)) {
    merged[name] = mergeApplied(liveFields[name], value, beforeFields[name]);
  }
  return fromRecord(merged, wish);
};

/** Paths where the wish meets another value that this manager did not set: what an apply without force is refused for. */
export const findConflicts = (live: unknown, wish: unknown, before: unknown, path = ""): string[] => {
  if (live === undefined || equal(live, wish) || equal(live, before)) return [];
  const [liveFields, wishFields] = [asRecord(live), asRecord(wish)];
  if (!liveFields || !wishFields) return [path];
  const beforeFields = asRecord(before) ?? {};
  return Object.entries(wishFields).flatMap(([name, value]) =>
    findConflicts(liveFields[name], value, beforeFields[name], `${path}.${name}`),
  );
};

/** RFC 7386. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return structuredClone(patch);
  const result: JsonRecord = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatched(result[name], value);
  }
  return result;
};
