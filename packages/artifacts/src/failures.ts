import { S3ServiceException } from "@aws-sdk/client-s3";
import { ArtifactError, ArtifactNotFound, ArtifactStoreRefused, ArtifactStoreUnavailable } from "./errors.js";

/** Statuses that speak of the store's state, not of the request. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
const TRANSIENT_CODES = new Set(["SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Throttling"]);
const MESSAGE_LIMIT = 300;

/** Turns what the SDK threw into this package's errors; what already is one passes through. */
export function toArtifactError(operation: string, key: string, cause: unknown): ArtifactError {
  if (cause instanceof ArtifactError) return cause;
  if (!(cause instanceof S3ServiceException)) {
    return new ArtifactStoreUnavailable(operation, key, describe(cause), { cause });
  }
  const status = cause.$metadata.httpStatusCode ?? 0;
  if (status === 404) return new ArtifactNotFound(operation, key, missing(cause), { cause });
  if (isTransient(status, cause.name)) {
    return new ArtifactStoreUnavailable(operation, key, `the store answered ${status} ${cause.name}`, { cause });
  }
  return new ArtifactStoreRefused(operation, key, { status, code: cause.name }, { cause });
}

/** 501 is the one 5xx that repeats for ever: the store lacks the feature. A status of 0 never reached a server. */
function isTransient(status: number, code: string): boolean {
  return (
    status === 0 || (status >= 500 && status !== 501) || TRANSIENT_STATUSES.has(status) || TRANSIENT_CODES.has(code)
  );
}

function missing(error: S3ServiceException): string {
  return error.name === "NoSuchBucket" ? "the bucket does not exist; create it" : "no such object";
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return "the store failed in an unknown way";
  const code = "code" in cause && typeof cause.code === "string" ? `${cause.code}: ` : "";
  return `${code}${cause.message}`.slice(0, MESSAGE_LIMIT);
}
