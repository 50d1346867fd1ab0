/** Base of what the registry client throws on purpose. */
export class RegistryError extends Error {
  override readonly name: string = "RegistryError";
  /** True when the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean = false;
}

/** The registry can't be reached, does not answer in time, or fails on its side. */
export class RegistryUnavailable extends RegistryError {
  override readonly name = "RegistryUnavailable";
  override readonly retryable = true;

  constructor(
    message: string,
    options?: ErrorOptions,
    /** How long the registry asked to be left alone. */
    readonly retryAfterMs?: number,
  ) {
    super(message, options);
  }
}

/** The registry refuses who asks or what is asked for. */
export class RegistryDenied extends RegistryError {
  override readonly name = "RegistryDenied";
}

/** No such repository, manifest or blob. */
export class RegistryNotFound extends RegistryError {
  override readonly name = "RegistryNotFound";
}

/** The registry does not allow what was asked: deletes are off, an immutable tag holds something else. */
export class RegistryRefused extends RegistryError {
  override readonly name = "RegistryRefused";

  constructor(
    message: string,
    readonly status: number,
    /** Codes of the distribution specification in the answer, such as `TAG_INVALID`. */
    readonly codes: readonly string[] = [],
  ) {
    super(message);
  }
}

/** What the registry sent is not what was asked for: another digest, a malformed document, too many bytes. */
export class RegistryLied extends RegistryError {
  override readonly name = "RegistryLied";
}
