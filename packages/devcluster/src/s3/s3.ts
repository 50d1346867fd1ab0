import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { loopbackRefusal } from "../loopback-guard.js";
import { closeServer, listenOn } from "../loopback-server.js";
import { S3Error } from "./errors.js";
import { handleBucket, handleObject, sendXml } from "./handlers.js";
import { openBucket, type Bucket } from "./object-store.js";
import { verifySignature, type S3Credentials } from "./signature.js";
import { escapeXml } from "./xml.js";

export interface S3Options {
  dataDir: string;
  credentials: S3Credentials;
  /** Buckets that exist; none is made over HTTP. */
  buckets: readonly string[];
  /** Default us-east-1. A request signed for another is refused, as real stores do. */
  region?: string;
  host?: string;
  port?: number;
  /** Largest object, bytes; default 5 GiB. */
  maxObjectBytes?: number;
  onError?: (error: unknown) => void;
}

export interface S3Server {
  readonly url: string;
  readonly region: string;
  readonly credentials: S3Credentials;
  close(): Promise<void>;
}

const MAX_OBJECT_BYTES = 5 * 1024 ** 3;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

const sendError = (req: IncomingMessage, res: ServerResponse, error: S3Error): void => {
  if (res.headersSent) return void res.destroy();
  if (!req.readableEnded) res.setHeader("Connection", "close");
  if (req.method === "HEAD") return void res.writeHead(error.status).end();
  const resource = escapeXml(req.url?.split("?")[0] ?? "");
  const body = `<Code>${error.code}</Code><Message>${escapeXml(error.message)}</Message><Resource>${resource}</Resource><RequestId>${randomUUID()}</RequestId>`;
  sendXml(res, `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${body}</Error>`, error.status);
};

/** `/bucket/key`; the key is decoded, and may hold anything: it never becomes a path on disk. */
const parsePath = (rawPath: string): { bucket: string; key: string } => {
  const slash = rawPath.indexOf("/", 1);
  const [bucket, key] = slash < 0 ? [rawPath.slice(1), ""] : [rawPath.slice(1, slash), rawPath.slice(slash + 1)];
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) };
  } catch {
    throw new S3Error("InvalidArgument", "the path is not valid percent-encoding");
  }
};

/**
 * An S3 for development: path-style, objects on disk, every request signed with AWS Signature Version 4. It carries
 * what a client of single-piece objects needs (put, get, head, delete, batch delete, list v2, presigned URLs) and
 * answers anything else with 501.
 */
export const createS3 = async (options: S3Options): Promise<S3Server> => {
  const { dataDir, credentials, region = "us-east-1", host = "127.0.0.1", port = 0 } = options;
  const buckets = new Map<string, Bucket>();
  for (const name of options.buckets) {
    if (!BUCKET_NAME.test(name)) throw new Error(`${name} is no bucket name: 3 to 63 of a-z, 0-9, . and -`);
    buckets.set(name, await openBucket(join(dataDir, name), options.maxObjectBytes ?? MAX_OBJECT_BYTES));
  }

  const dispatch = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const refusal = loopbackRefusal(req.headers);
    if (refusal) throw new S3Error("AccessDenied", refusal);
    const [rawPath = "/", search = ""] = (req.url ?? "/").split("?", 2);
    const query = new URLSearchParams(search);
    const { bucket: name, key } = parsePath(rawPath);
    const request = { method: req.method ?? "GET", rawPath, query, headers: req.headers };
    const { payload } = verifySignature(request, { credentials, region, now: Date.now() });
    const bucket = buckets.get(name);
    if (!bucket) throw new S3Error("NoSuchBucket", "The specified bucket does not exist");
    const exchange = { req, res, query, payload };
    return key === "" ? handleBucket(exchange, name, bucket) : handleObject(exchange, bucket, key);
  };
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      await dispatch(req, res);
    } catch (error) {
      if (error instanceof S3Error) return sendError(req, res, error);
      if (!req.destroyed) options.onError?.(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { Connection: "close" }).end();
    }
  };

  const server = createServer((req, res) => void handle(req, res));
  const authority = await listenOn(server, host, port);
  return {
    url: `http://${authority}`,
    region,
    credentials,
    close: () => closeServer(server),
  };
};
