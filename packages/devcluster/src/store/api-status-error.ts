import type { ResourceRef } from "./types.js";

export interface StatusCause {
  reason: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The body of an unsuccessful answer: `Status` of meta/v1. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, unknown>;
  status: "Failure" | "Success";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** A refusal in the words of kube-apiserver: reason and code are what clients decide by. */
export class ApiStatusError extends Error {
  override readonly name = "ApiStatusError";
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): Status {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

/** `pods`, `deployments.apps`: how messages name a resource. */
export const qualifiedResource = (type: ResourceRef): string =>
  type.group === "" ? type.plural : `${type.plural}.${type.group}`;

const detailsOf = (type: ResourceRef, name: string): StatusDetails => ({
  name,
  ...(type.group === "" ? {} : { group: type.group }),
  kind: type.plural,
});

export const notFound = (type: ResourceRef, name: string): ApiStatusError =>
  new ApiStatusError(404, "NotFound", `${qualifiedResource(type)} "${name}" not found`, detailsOf(type, name));

export const alreadyExists = (type: ResourceRef, name: string): ApiStatusError =>
  new ApiStatusError(
    409,
    "AlreadyExists",
    `${qualifiedResource(type)} "${name}" already exists`,
    detailsOf(type, name),
  );

export const conflict = (type: ResourceRef, name: string, why: string): ApiStatusError =>
  new ApiStatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualifiedResource(type)} "${name}": ${why}`,
    detailsOf(type, name),
  );

export const forbidden = (type: ResourceRef, name: string, why: string, causes?: StatusCause[]): ApiStatusError =>
  new ApiStatusError(403, "Forbidden", `${qualifiedResource(type)} "${name}" is forbidden: ${why}`, {
    ...detailsOf(type, name),
    ...(causes ? { causes } : {}),
  });

export const badRequest = (message: string): ApiStatusError => new ApiStatusError(400, "BadRequest", message);

export const expired = (requested: number, oldest: number): ApiStatusError =>
  new ApiStatusError(410, "Expired", `too old resource version: ${requested} (${oldest})`);
