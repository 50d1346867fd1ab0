import { S3Error } from "./errors.js";
import type { Bucket } from "./object-store.js";
import { makeXml } from "./xml.js";

const MAX_KEYS = 1000;

/** The first position in sorted keys that comes after `key`. */
const positionAfter = (keys: readonly string[], key: string): number => {
  const wanted = Buffer.from(key);
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(Buffer.from(keys[middle] ?? ""), wanted) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
};

const commonPrefix = (key: string, prefix: string, delimiter: string): string | undefined => {
  const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
};

interface Page {
  contents: string[];
  prefixes: string[];
  /** Last key looked at, when there is more. */
  next?: string;
}

const pageOf = (keys: readonly string[], from: number, { prefix, delimiter, limit }: ListQuery): Page => {
  const page: Page = { contents: [], prefixes: [] };
  let last: string | undefined;
  for (let i = from; i < keys.length; i++) {
    const key = keys[i] ?? "";
    if (!key.startsWith(prefix)) continue;
    const shared = commonPrefix(key, prefix, delimiter);
    const isKnown = shared !== undefined && page.prefixes.at(-1) === shared;
    if (!isKnown && page.contents.length + page.prefixes.length >= limit) return { ...page, next: last ?? "" };
    if (shared === undefined) page.contents.push(key);
    else if (!isKnown) page.prefixes.push(shared);
    last = key;
  }
  return page;
};

interface ListQuery {
  prefix: string;
  delimiter: string;
  limit: number;
}

const parseLimit = (text: string | null): number => {
  if (text === null) return MAX_KEYS;
  if (!/^\d{1,9}$/.test(text)) throw new S3Error("InvalidArgument", "max-keys must be a number");
  return Math.min(MAX_KEYS, Number(text));
};

const describe = (bucket: Bucket, key: string, encode: (text: string) => string) => {
  const { size = 0, etag = "", modified = 0 } = bucket.get(key) ?? {};
  const LastModified = new Date(modified).toISOString();
  return { Key: encode(key), LastModified, ETag: `"${etag}"`, Size: size, StorageClass: "STANDARD" };
};

/** The continuation token is the last key looked at, so a page goes on rightly whatever was written meanwhile. */
const startOf = (query: URLSearchParams): string => {
  const token = query.get("continuation-token");
  return token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString("utf8");
};

const parseQuery = (query: URLSearchParams): ListQuery => ({
  prefix: query.get("prefix") ?? "",
  delimiter: query.get("delimiter") ?? "",
  limit: parseLimit(query.get("max-keys")),
});

/** A page of ListObjectsV2. */
export const listObjects = (name: string, bucket: Bucket, query: URLSearchParams): string => {
  const wanted = parseQuery(query);
  const keys = bucket.keys();
  const page: Page =
    wanted.limit === 0 ? { contents: [], prefixes: [] } : pageOf(keys, positionAfter(keys, startOf(query)), wanted);
  const isEncoded = query.get("encoding-type") === "url";
  const encode = isEncoded ? encodeURIComponent : (text: string) => text;
  return makeXml("ListBucketResult", {
    Name: name,
    Prefix: encode(wanted.prefix),
    Delimiter: wanted.delimiter === "" ? undefined : encode(wanted.delimiter),
    EncodingType: isEncoded ? "url" : undefined,
    MaxKeys: wanted.limit,
    KeyCount: page.contents.length + page.prefixes.length,
    IsTruncated: page.next !== undefined,
    ContinuationToken: query.get("continuation-token") ?? undefined,
    NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString("base64url"),
    Contents: page.contents.map((key) => describe(bucket, key, encode)),
    CommonPrefixes: page.prefixes.map((shared) => ({ Prefix: encode(shared) })),
  });
};
