/** Error codes of the OCI distribution specification with the status that each one is answered by. */
const STATUS = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 416,
  BLOB_UPLOAD_UNKNOWN: 404,
  DENIED: 403,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 404,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  SIZE_INVALID: 413,
  TAG_INVALID: 400,
  TOOMANYREQUESTS: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED: 405,
} as const;

export type RegistryErrorCode = keyof typeof STATUS;

/** A refusal of the registry; `toBody()` is the error body that the distribution specification asks for. */
export class RegistryError extends Error {
  readonly status: number;

  constructor(
    readonly code: RegistryErrorCode,
    message: string,
    readonly detail?: unknown,
  ) {
    super(message);
    this.name = "RegistryError";
    this.status = STATUS[code];
  }

  toBody(): string {
    return JSON.stringify({ errors: [{ code: this.code, message: this.message, detail: this.detail ?? null }] });
  }
}
