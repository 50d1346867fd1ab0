import { createHash } from "node:crypto";

type Json = unknown;
type JsonRecord = Record<string, Json>;

const isRecord = (value: Json): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields by which Kubernetes merges lists of objects, most telling first. */
const MERGE_KEYS = ["name", "key", "type", "mountPath", "devicePath", "containerPort", "port", "ip", "uid"];

const mergeKeyOf = (items: readonly Json[]): string | undefined =>
  MERGE_KEYS.find((key) => items.length > 0 && items.every((item) => isRecord(item) && item[key] !== undefined));

const pickList = (live: readonly Json[], desired: readonly Json[]): Json => {
  const key = mergeKeyOf(desired);
  if (key === undefined) return live;
  return desired.map((item) => {
    const id = (item as JsonRecord)[key];
    return pickDesired(
      live.find((candidate) => isRecord(candidate) && candidate[key] === id),
      item,
    );
  });
};

/**
 * The part of a live object that a desired one speaks about: defaults of the server, fields and list items of others
 * are left out. Lists of objects are matched by their merge key, other lists are taken whole.
 */
export const pickDesired = (live: Json, desired: Json): Json => {
  if (isRecord(desired) && isRecord(live)) {
    return Object.fromEntries(Object.entries(desired).map(([name, want]) => [name, pickDesired(live[name], want)]));
  }
  if (Array.isArray(desired) && Array.isArray(live)) return pickList(live, desired);
  return live;
};

const sortKeys = (_key: string, value: Json): Json =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** Digest of JSON, whatever the order of keys. */
export const digestOf = (value: Json): string =>
  createHash("sha256")
    .update(JSON.stringify(value, sortKeys) ?? "")
    .digest("base64");
