/** Base of everything that this package throws on purpose; says which operation met which key. */
export class ArtifactError extends Error {
  override readonly name: string = "ArtifactError";
  /** True when the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean = false;

  constructor(
    readonly operation: string,
    readonly key: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`Can't ${operation} ${JSON.stringify(key)}: ${reason}`, options);
  }
}

/** No object has that key, or the bucket itself is missing (the message says which). */
export class ArtifactNotFound extends ArtifactError {
  override readonly name = "ArtifactNotFound";
}

/** What the store said. */
export interface StoreAnswer {
  status: number;
  /** The store's own error code, such as `AccessDenied`. */
  code: string;
}

/** The store knows the request and refuses it: credentials, region, policy, an unsupported feature. */
export class ArtifactStoreRefused extends ArtifactError {
  override readonly name = "ArtifactStoreRefused";

  constructor(
    operation: string,
    key: string,
    readonly answer: StoreAnswer,
    options?: ErrorOptions,
  ) {
    const said = `the object store answered ${answer.status} ${answer.code}`;
    super(operation, key, `${said}; check its endpoint, region, bucket and credentials`, options);
  }
}

/** The store can't be reached, does not answer in time, or fails on its side. */
export class ArtifactStoreUnavailable extends ArtifactError {
  override readonly name = "ArtifactStoreUnavailable";
  override readonly retryable = true;
}
