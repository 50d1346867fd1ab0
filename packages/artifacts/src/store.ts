import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createS3Client } from "./client.js";
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUTS, type ArtifactStoreConfig } from "./config.js";
import { deleteKeys, type DeleteReport } from "./delete-many.js";
import { ArtifactNotFound, ArtifactStoreUnavailable } from "./errors.js";
import { toArtifactError } from "./failures.js";
import { openBody, retrying, type ArtifactBody } from "./put.js";

/** An object's head. */
export interface ArtifactInfo {
  key: string;
  /** Bytes. */
  size: number;
  lastModified?: Date;
}

export interface CallOptions {
  /** Ends the call early, beside the store's own time limits. */
  signal?: AbortSignal;
}

export interface PresignOptions {
  /** Seconds until the URL stops working; S3 allows at most a week. */
  expiresSec: number;
}

export interface PresignPutOptions extends PresignOptions {
  /** Signed into the URL: the store refuses a body of another length. */
  contentLength?: number;
}

/** One bucket of an S3-compatible store. Every method throws an `ArtifactError` and nothing else. */
export interface ArtifactStore {
  /** Stores an object, replacing one of the same key. A file is opened again for each retry; a stream is sent once. */
  put(key: string, body: ArtifactBody, options?: CallOptions): Promise<{ size: number }>;
  /** @throws ArtifactNotFound. The stream fails by itself when the store falls silent; the caller must consume or destroy it. */
  get(key: string, options?: CallOptions): Promise<{ stream: Readable; size: number }>;
  /** @throws ArtifactNotFound */
  head(key: string, options?: CallOptions): Promise<ArtifactInfo>;
  /** Everything below a prefix, page by page, in the store's order. */
  list(prefix: string, options?: CallOptions): AsyncIterable<ArtifactInfo>;
  /** Deletes one object; one that is gone already counts as deleted. */
  delete(key: string, options?: CallOptions): Promise<void>;
  /** Deletes many and says of each what became of it; never throws for a refused key. */
  deleteMany(keys: readonly string[], options?: CallOptions): Promise<DeleteReport>;
  /** URL on the public endpoint with which a holder of no credential may store exactly this key. */
  presignPut(key: string, options: PresignPutOptions): Promise<string>;
  /** The same for reading it. */
  presignGet(key: string, options: PresignOptions): Promise<string>;
  /** Resolves when the bucket answers; for readiness checks. */
  check(options?: CallOptions): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** Connects to nothing yet: the first call does. */
export function createArtifactStore(config: ArtifactStoreConfig): ArtifactStore {
  const Bucket = config.bucket;
  const client = createS3Client(config, config.endpoint);
  const publicClient = createS3Client(config, config.publicEndpoint ?? config.endpoint);
  const totalMs = config.timeouts?.total ?? DEFAULT_TIMEOUTS.total;
  const limit = (options?: CallOptions): AbortSignal => limited(totalMs, options?.signal);

  const store: ArtifactStore = {
    put: (key, source, options) => {
      const abortSignal = limit(options);
      // The SDK repeats bytes by itself and never a stream; a file is a stream that can be opened again.
      const attempts = "file" in source ? (config.maxAttempts ?? DEFAULT_MAX_ATTEMPTS) : 1;
      return retrying(attempts, abortSignal, () =>
        guard("store", key, async () => {
          const { body: Body, contentLength: ContentLength } = await openBody(source);
          try {
            await client.send(new PutObjectCommand({ Bucket, Key: key, Body, ContentLength }), { abortSignal });
          } finally {
            if (Body instanceof Readable) Body.destroy();
          }
          return { size: ContentLength };
        }),
      );
    },

    get: (key, options) =>
      guard("read", key, async () => {
        const opening = new AbortController();
        const timer = setTimeout(() => opening.abort(new Error(`no answer within ${totalMs} ms`)), totalMs);
        const abortSignal = options?.signal ? AbortSignal.any([opening.signal, options.signal]) : opening.signal;
        const answer = await client
          .send(new GetObjectCommand({ Bucket, Key: key }), { abortSignal })
          .finally(() => clearTimeout(timer));
        if (!(answer.Body instanceof Readable) || answer.ContentLength === undefined)
          throw new ArtifactStoreUnavailable("read", key, "the store answered without a body or a length");
        return { stream: answer.Body, size: answer.ContentLength };
      }),

    head: (key, options) =>
      guard("look up", key, async () => {
        const command = new HeadObjectCommand({ Bucket, Key: key });
        const { ContentLength, LastModified } = await client.send(command, { abortSignal: limit(options) });
        return toInfo(key, ContentLength, LastModified);
      }),

    list: async function* (prefix, options) {
      let ContinuationToken: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken });
        const page = await guard("list", prefix, () => client.send(command, { abortSignal: limit(options) }));
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key?.startsWith(prefix)) yield toInfo(Key, Size, LastModified);
        }
        ContinuationToken = nextPage(prefix, page.NextContinuationToken, ContinuationToken);
      } while (ContinuationToken !== undefined);
    },

    delete: (key, options) =>
      guard("delete", key, async () => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: key }), { abortSignal: limit(options) });
      }).catch((error: unknown) => {
        if (!(error instanceof ArtifactNotFound)) throw error;
      }),

    deleteMany: (keys, options) => {
      const deleteOne = (key: string) => store.delete(key, options);
      return deleteKeys({ client, bucket: Bucket, deleteOne, signal: () => limit(options) }, keys);
    },

    presignPut: (key, { expiresSec, contentLength: ContentLength }) =>
      guard("presign", key, () =>
        getSignedUrl(publicClient, new PutObjectCommand({ Bucket, Key: key, ContentLength }), {
          expiresIn: expiresSec,
          ...(ContentLength === undefined ? {} : { signableHeaders: new Set(["content-length", "host"]) }),
        }),
      ),

    presignGet: (key, { expiresSec }) =>
      guard("presign", key, () =>
        getSignedUrl(publicClient, new GetObjectCommand({ Bucket, Key: key }), { expiresIn: expiresSec }),
      ),

    check: (options) =>
      guard("reach bucket", Bucket, async () => {
        await client.send(new HeadBucketCommand({ Bucket }), { abortSignal: limit(options) });
      }),

    close: () => {
      client.destroy();
      publicClient.destroy();
    },
  };
  return store;
}

async function guard<T>(operation: string, key: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw toArtifactError(operation, key, cause);
  }
}

function limited(totalMs: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(totalMs);
  return signal ? AbortSignal.any([timeout, signal]) : timeout;
}

/** A store that hands out the same token again would have the caller list for ever. */
function nextPage(prefix: string, next: string | undefined, current: string | undefined): string | undefined {
  if (next !== undefined && next === current)
    throw new ArtifactStoreUnavailable("list", prefix, "the store repeats a page");
  return next;
}

function toInfo(key: string, size: number | undefined, lastModified: Date | undefined): ArtifactInfo {
  return { key, size: size ?? 0, ...(lastModified ? { lastModified } : {}) };
}
