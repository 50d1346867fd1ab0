import type { FieldError } from "@sless/contracts";

/** Root of what the use cases throw on purpose. Nothing here knows of HTTP: `http/error-handler.ts` maps it. */
export abstract class DomainError extends Error {
  override name = this.constructor.name;
}

/** Fields, parameters or headers of a request are wrong; all of them at once. */
export class InvalidRequest extends DomainError {
  constructor(
    message: string,
    readonly fields: FieldError[] = [],
  ) {
    super(message);
  }
}

/** One field is wrong. */
export const invalidField = (pointer: string, message: string): InvalidRequest =>
  new InvalidRequest(`${pointer} ${message}`, [{ pointer, message }]);

export class InvalidJson extends DomainError {}

/** The uploaded zip can't become code; the message says what to change. */
export class InvalidCode extends DomainError {}

export class Unauthenticated extends DomainError {}

export class Forbidden extends DomainError {}

export class NotFound extends DomainError {}

/** What is there does not allow it now. `reason` is machine-readable where there is one. */
export class Conflict extends DomainError {
  constructor(
    message: string,
    readonly reason?: string,
  ) {
    super(message);
  }
}

export class AlreadyExists extends DomainError {}

/** A cursor is too old. */
export class Expired extends DomainError {}

/** The object changed since the caller read it. */
export class PreconditionFailed extends DomainError {
  constructor(
    message: string,
    /** Resource version of the object as it is now, if it is still there. */
    readonly currentVersion: string | undefined,
  ) {
    super(message);
  }
}

export class TooLarge extends DomainError {}

export class UnsupportedMediaType extends DomainError {}

export class IdempotencyMismatch extends DomainError {}

export class TooManyRequests extends DomainError {
  constructor(
    message: string,
    readonly retryAfterSec: number,
  ) {
    super(message);
  }
}

/** Something the platform leans on is away for now. */
export class Unavailable extends DomainError {
  constructor(
    message: string,
    readonly retryAfterSec: number = 5,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export class TookTooLong extends DomainError {}

/** The path exists and the method does not. */
export class MethodNotAllowed extends DomainError {
  constructor(readonly allowed: readonly string[]) {
    super(`This path answers ${allowed.join(", ")} only.`);
  }
}
