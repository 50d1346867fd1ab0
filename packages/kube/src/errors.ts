/** One cause of a refusal, as the API server lists them in `details.causes`. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The `Status` object that an API server answers a failed call with. */
export interface Status {
  code: number;
  reason: string;
  message: string;
  causes: readonly StatusCause[];
  retryAfterSeconds?: number;
}

/** Root of everything that a call to the API server can throw, other than the caller's own abort. */
export class KubeError extends Error {
  override name = this.constructor.name;
}

/** The API server answered and refused. `what` names the call: `apply Deployment a/b`. */
export class KubeApiError extends KubeError {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly what: string,
    readonly status: Status,
  ) {
    super(`${what}: ${status.message} (${status.code} ${status.reason})`);
    this.code = status.code;
    this.reason = status.reason;
    this.causes = status.causes;
    this.retryAfterMs = status.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000;
  }
}

/** 404: the object, or the kind itself, does not exist. */
export class NotFoundError extends KubeApiError {}

/** 409, or 422 for a uid: a precondition (resourceVersion, uid) or a field of another manager stood in the way. */
export class ConflictError extends KubeApiError {}

/** 409 on a create: something of this name is there. */
export class AlreadyExistsError extends KubeApiError {}

/** 410: the resource version or continue token is too old; start again with a fresh list. */
export class GoneError extends KubeApiError {}

/** 401: the credentials are not, or no longer, accepted. */
export class UnauthorizedError extends KubeApiError {}

/** 403: RBAC, admission, a quota, or a namespace that is going. */
export class ForbiddenError extends KubeApiError {
  /** A ResourceQuota refused it; its message names the quota with requested, used and limited amounts. */
  get isQuotaExceeded(): boolean {
    return /\b(exceeded|failed) quota:/.test(this.status.message);
  }

  /** Nothing can be created any more, since the namespace is being deleted. */
  get isNamespaceTerminating(): boolean {
    return this.causes.some((cause) => cause.reason === "NamespaceTerminating");
  }
}

/** 422: the object does not fit its schema or a CEL rule; `causes` name the fields. */
export class InvalidError extends KubeApiError {}

/** 429 and 5xx: the API server is overloaded or broken; trying later may help. */
export class ServerError extends KubeApiError {}

/** No answer within the call's own bound. Whether a write happened is not known. */
export class TimeoutError extends KubeError {}

/** The connection failed. Whether a write happened is not known. */
export class TransportError extends KubeError {}

/** The object exists and belongs to someone else, so it is neither changed nor deleted (ownership by uid label). */
export class NotOwnedError extends KubeError {}

/** This process is not, or not surely, the leader; the write was not sent. */
export class NotLeadingError extends KubeError {}

type ApiErrorClass = new (what: string, status: Status) => KubeApiError;

const CLASS_BY_CODE: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, GoneError],
  [422, InvalidError],
  [429, ServerError],
]);

/** A uid that was sent as a precondition and does not match is refused as an edit of an immutable field. */
const isUidMismatch = ({ code, causes }: Status): boolean =>
  code === 422 && causes.length > 0 && causes.every(({ field }) => field === "metadata.uid");

/** The error class that fits a Status. */
export const makeApiError = (what: string, status: Status): KubeApiError => {
  if (status.reason === "AlreadyExists") return new AlreadyExistsError(what, status);
  if (isUidMismatch(status)) return new ConflictError(what, status);
  if (status.code >= 500) return new ServerError(what, status);
  return new (CLASS_BY_CODE.get(status.code) ?? KubeApiError)(what, status);
};

const MAX_MESSAGE = 4096;
const MAX_CAUSES = 32;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, MAX_MESSAGE) : undefined;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const parseCause = (value: unknown): StatusCause => {
  if (!isRecord(value)) return {};
  const [reason, message, field] = [text(value["reason"]), text(value["message"]), text(value["field"])];
  return { ...(reason && { reason }), ...(message && { message }), ...(field && { field }) };
};

const parseDetails = ({ causes, retryAfterSeconds }: Record<string, unknown>) => ({
  causes: Array.isArray(causes) ? causes.slice(0, MAX_CAUSES).map(parseCause) : [],
  ...(typeof retryAfterSeconds === "number" && retryAfterSeconds >= 0 && { retryAfterSeconds }),
});

/**
 * Reads a Status leniently: a proxy in between may answer anything, so every field is checked and bounded.
 * `code` is the HTTP status, which wins unless the Status came inside a 200 stream.
 */
export const parseStatus = (body: unknown, httpCode: number): Status => {
  const source = isRecord(body) ? body : {};
  const bodyCode = typeof source["code"] === "number" ? source["code"] : 500;
  return {
    code: httpCode >= 400 ? httpCode : bodyCode,
    reason: text(source["reason"]) ?? "Unknown",
    message: text(source["message"]) ?? text(body) ?? "the server gave no message",
    ...parseDetails(isRecord(source["details"]) ? source["details"] : {}),
  };
};
