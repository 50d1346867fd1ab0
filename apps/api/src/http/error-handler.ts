import { makeProblem, type Problem, type ProblemKind } from "@sless/contracts";
import {
  AlreadyExistsError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  KubeError,
  NotFoundError,
} from "@sless/kube";
import { ArtifactError } from "@sless/artifacts";
import type { ErrorRequestHandler, Request, Response } from "express";
import * as domain from "../errors.js";
import type { Logger } from "../platform/logger.js";
import { drainBody } from "./drain-body.js";
import { ClientGone } from "./lifetime.js";
import { requestIdOf } from "./request-id.js";

type Extra = Pick<Problem, "errors" | "reason">;
interface Mapped {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly extra?: { [K in keyof Extra]?: NonNullable<Extra[K]> };
  readonly headers?: Readonly<Record<string, string>>;
}

type ErrorClass = abstract new (...args: never[]) => Error;

/** The one table from errors of the use cases to kinds of problems, and so to statuses. */
const KINDS: readonly (readonly [ErrorClass, ProblemKind])[] = [
  [domain.InvalidRequest, "invalid-request"],
  [domain.InvalidJson, "invalid-json"],
  [domain.InvalidCode, "invalid-code"],
  [domain.Unauthenticated, "unauthenticated"],
  [domain.Forbidden, "forbidden"],
  [domain.NotFound, "not-found"],
  [domain.MethodNotAllowed, "method-not-allowed"],
  [domain.Conflict, "conflict"],
  [domain.AlreadyExists, "already-exists"],
  [domain.Expired, "expired"],
  [domain.PreconditionFailed, "precondition-failed"],
  [domain.TooLarge, "too-large"],
  [domain.UnsupportedMediaType, "unsupported-media-type"],
  [domain.IdempotencyMismatch, "idempotency-mismatch"],
  [domain.TooManyRequests, "too-many-requests"],
  [domain.Unavailable, "unavailable"],
  [domain.TookTooLong, "timeout"],
];

const headersOf = (error: Error): Record<string, string> => {
  if (error instanceof domain.TooManyRequests || error instanceof domain.Unavailable) {
    return { "retry-after": String(error.retryAfterSec) };
  }
  if (error instanceof domain.PreconditionFailed && error.currentVersion !== undefined) {
    return { etag: `"${error.currentVersion}"` };
  }
  if (error instanceof domain.MethodNotAllowed) return { allow: error.allowed.join(", ") };
  if (error instanceof domain.Unauthenticated) return { "www-authenticate": 'Bearer realm="sless"' };
  return {};
};

const extraOf = (error: Error): NonNullable<Mapped["extra"]> => {
  if (error instanceof domain.InvalidRequest && error.fields.length > 0) return { errors: error.fields };
  if (error instanceof domain.Conflict && error.reason !== undefined) return { reason: error.reason };
  return {};
};

const mapDomainError = (error: Error): Mapped | undefined => {
  const kind = KINDS.find(([errorClass]) => error instanceof errorClass)?.[1];
  return kind && { kind, detail: error.message, extra: extraOf(error), headers: headersOf(error) };
};

const mapForbidden = (error: ForbiddenError): Mapped => {
  if (error.isQuotaExceeded) {
    return {
      kind: "conflict",
      detail: `The quota does not allow it: ${error.status.message}`,
      extra: { reason: "QuotaExceeded" },
    };
  }
  if (error.isNamespaceTerminating) {
    return {
      kind: "conflict",
      detail: "The namespace is being deleted; try again when it is gone.",
      extra: { reason: "Terminating" },
    };
  }
  return unavailable("The cluster refused the API's own account.");
};

const unavailable = (detail: string): Mapped => ({ kind: "unavailable", detail, headers: { "retry-after": "5" } });

const mapInvalid = (error: InvalidError): Mapped => {
  const errors = error.causes.map(({ field, message }) => ({ pointer: field ?? "", message: message ?? "is invalid" }));
  return { kind: "invalid-request", detail: error.status.message, ...(errors.length > 0 && { extra: { errors } }) };
};

/** What the cluster answered, in terms of the caller's request. */
const mapKubeError = (error: KubeError): Mapped => {
  if (error instanceof NotFoundError) return { kind: "not-found", detail: "It does not exist." };
  if (error instanceof AlreadyExistsError)
    return { kind: "already-exists", detail: "Something of this name is there already." };
  if (error instanceof ConflictError)
    return { kind: "conflict", detail: "It was changed by somebody else at the same time. Read it and try again." };
  if (error instanceof InvalidError) return mapInvalid(error);
  if (error instanceof GoneError)
    return { kind: "expired", detail: "The cursor is too old. Begin the list anew, without continue." };
  if (error instanceof ForbiddenError) return mapForbidden(error);
  return unavailable("The cluster's API can't be reached or does not answer. Try again soon.");
};

const INTERNAL: Mapped = {
  kind: "internal",
  detail: "Something failed on the platform's side. Tell its operator the request id.",
};

/** Errors of Express itself, such as a path that can't be decoded, carry a status. */
const mapOther = (error: unknown): Mapped => {
  if (error instanceof ArtifactError) return unavailable("The code store can't be reached. Try again soon.");
  const status = (error as { status?: unknown } | null)?.status;
  return status === 400 ? { kind: "invalid-request", detail: "The path can't be decoded." } : INTERNAL;
};

const mapError = (error: unknown): Mapped => {
  const mapped = error instanceof Error ? mapDomainError(error) : undefined;
  if (mapped) return mapped;
  return error instanceof KubeError ? mapKubeError(error) : mapOther(error);
};

/** Answers with a problem. The head must not have been sent. */
const sendProblem = (res: Response, { kind, detail, extra, headers }: Mapped): void => {
  const problem = makeProblem(kind, detail, requestIdOf(res), extra ?? {});
  res.status(problem.status).type("application/problem+json");
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  res.send(JSON.stringify(problem));
};

const isExpected = (mapped: Mapped): boolean => mapped.kind !== "internal" && mapped.kind !== "unavailable";

/** The one place where an error becomes an answer. A stream that has begun can only be broken off. */
export const handleErrors =
  (logger: Logger): ErrorRequestHandler =>
  (error: unknown, req: Request, res: Response, _next) => {
    if (error instanceof ClientGone) {
      res.destroy();
      return;
    }
    const mapped = mapError(error);
    if (!isExpected(mapped)) {
      logger[mapped.kind === "internal" ? "error" : "warn"](
        { err: error, requestId: requestIdOf(res) },
        "request failed",
      );
    }
    // The request's own socket is gone once a proxied body was destroyed with its upstream; the answer's is not.
    if (res.headersSent || res.socket === null || res.socket.destroyed) {
      res.destroy();
      return;
    }
    drainBody(req);
    sendProblem(res, mapped);
  };
