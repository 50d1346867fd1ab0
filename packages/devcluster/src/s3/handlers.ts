import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { parseByteRange } from "../byte-range.js";
import { readDocument, readUpload } from "./body.js";
import { S3Error } from "./errors.js";
import { listObjects } from "./list.js";
import type { Bucket, ObjectInfo } from "./object-store.js";
import { makeXml, readElements } from "./xml.js";

export interface S3Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  query: URLSearchParams;
  payload: string;
}

const MAX_DELETE_BODY = 2 * 1024 * 1024;
const MAX_DELETE_KEYS = 1000;
/** Headers of an object that are kept and given back; a presigned GET may name others by `response-…`. */
const OBJECT_HEADERS = [
  "content-type",
  "content-encoding",
  "content-disposition",
  "content-language",
  "cache-control",
  "expires",
];

export const sendXml = (res: ServerResponse, xml: string, status = 200): void => {
  res.writeHead(status, { "Content-Type": "application/xml", "Content-Length": Buffer.byteLength(xml) });
  res.end(xml);
};

const headersToKeep = (req: IncomingMessage): Record<string, string> => {
  const isKept = (name: string) => OBJECT_HEADERS.includes(name) || name.startsWith("x-amz-meta-");
  const entries = Object.entries(req.headers).filter(([name]) => isKept(name));
  const kept = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  const encoding = (kept["content-encoding"] ?? "").split(",").map((part) => part.trim());
  // aws-chunked is how the body came, not what it is.
  kept["content-encoding"] = encoding.filter((part) => part !== "aws-chunked").join(",");
  if (kept["content-encoding"] === "") delete kept["content-encoding"];
  return kept;
};

const find = (bucket: Bucket, key: string): ObjectInfo => {
  const info = bucket.get(key);
  if (!info) throw new S3Error("NoSuchKey", "The specified key does not exist.");
  return info;
};

const matches = (etags: string, existing: ObjectInfo | undefined): boolean =>
  existing !== undefined && (etags === "*" || etags === `"${existing.etag}"`);

/** If-Match holds for what is there; `If-None-Match: *` only where nothing is. */
const checkPreconditions = (req: IncomingMessage, existing: ObjectInfo | undefined): void => {
  const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = req.headers;
  const isStale = ifMatch !== undefined && !matches(ifMatch, existing);
  const isTaken = ifNoneMatch === "*" && req.method === "PUT" && existing !== undefined;
  if (isStale || isTaken) {
    throw new S3Error("PreconditionFailed", "At least one of the preconditions you specified did not hold.");
  }
};

const putObject = async ({ req, res, payload }: S3Exchange, bucket: Bucket, key: string): Promise<void> => {
  if (req.headers["x-amz-copy-source"] !== undefined) {
    throw new S3Error("NotImplemented", "CopyObject is not supported by the S3 of devcluster");
  }
  if (Buffer.byteLength(key) > 1024) throw new S3Error("KeyTooLongError", "Your key is too long");
  checkPreconditions(req, bucket.get(key));
  const { etag } = await bucket.put(key, readUpload(req, payload), headersToKeep(req));
  res.writeHead(200, { ETag: `"${etag}"`, "Content-Length": 0 }).end();
};

const getObject = async ({ req, res, query }: S3Exchange, bucket: Bucket, key: string): Promise<void> => {
  const info = find(bucket, key);
  checkPreconditions(req, info);
  const range = parseByteRange(req.headers.range, info.size);
  if (range === "unsatisfiable") throw new S3Error("InvalidRange", "The requested range is not satisfiable");
  const overrides = OBJECT_HEADERS.flatMap((name): [string, string][] => {
    const value = query.get(`response-${name}`);
    return value === null ? [] : [[name, value]];
  });
  const length = range ? range.end - range.start + 1 : info.size;
  res.writeHead(range ? 206 : 200, {
    "content-type": "application/octet-stream",
    ...info.headers,
    ...Object.fromEntries(overrides),
    ...(range ? { "content-range": `bytes ${range.start}-${range.end}/${info.size}` } : {}),
    "content-length": length,
    "accept-ranges": "bytes",
    "last-modified": new Date(info.modified).toUTCString(),
    etag: `"${info.etag}"`,
    // Stored pages must not run as pages of this origin.
    "x-content-type-options": "nosniff",
  });
  if (req.method === "HEAD" || length === 0) res.end();
  else await pipeline(bucket.read(info, range?.start, range?.end), res);
};

export const handleObject = async (exchange: S3Exchange, bucket: Bucket, key: string): Promise<void> => {
  const { req, res, query } = exchange;
  const unsupported = ["uploads", "uploadId", "tagging", "acl", "versionId", "attributes"].find((name) =>
    query.has(name),
  );
  if (unsupported) throw new S3Error("NotImplemented", `?${unsupported} is not supported by the S3 of devcluster`);
  switch (req.method) {
    case "PUT":
      return putObject(exchange, bucket, key);
    case "GET":
    case "HEAD":
      return getObject(exchange, bucket, key);
    case "DELETE":
      await bucket.delete(key);
      res.writeHead(204).end();
      return;
    default:
      throw new S3Error("NotImplemented", `${req.method} of an object is not supported`);
  }
};

const deleteObjects = async ({ req, res, payload }: S3Exchange, bucket: Bucket): Promise<void> => {
  const body = await readDocument(req, payload, MAX_DELETE_BODY);
  const keys = readElements(body, "Key");
  if (keys.length === 0 || keys.length > MAX_DELETE_KEYS) {
    throw new S3Error("MalformedXML", `Delete takes 1 to ${MAX_DELETE_KEYS} keys`);
  }
  for (const key of keys) await bucket.delete(key);
  const isQuiet = readElements(body, "Quiet")[0] === "true";
  sendXml(res, makeXml("DeleteResult", { Deleted: isQuiet ? [] : keys.map((Key) => ({ Key })) }));
};

export const handleBucket = async (exchange: S3Exchange, name: string, bucket: Bucket): Promise<void> => {
  const { req, res, query } = exchange;
  if (req.method === "HEAD") return void res.writeHead(200).end();
  if (req.method === "POST" && query.has("delete")) return deleteObjects(exchange, bucket);
  if (req.method === "GET" && query.has("location")) return sendXml(res, makeXml("LocationConstraint", {}));
  if (req.method === "GET" && query.get("list-type") === "2") return sendXml(res, listObjects(name, bucket, query));
  throw new S3Error("NotImplemented", `${req.method} of a bucket with these parameters is not supported`);
};
