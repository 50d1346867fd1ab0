/** How to reach one bucket of an S3-compatible store. */
export interface ArtifactStoreConfig {
  /** Where this process reaches the store, such as `http://127.0.0.1:9000`. */
  endpoint: string;
  /** Where others reach it: presigned URLs carry this host. Default: `endpoint`. */
  publicEndpoint?: string;
  /** Part of every signature; a store that has only one region still checks it. */
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** `http://host/bucket/key` instead of `http://bucket.host/key`. Default true: few S3-likes have a DNS name per bucket. */
  forcePathStyle?: boolean;
  timeouts?: Partial<ArtifactTimeouts>;
  /** Tries of one call in all, backed off exponentially. Default 3. */
  maxAttempts?: number;
}

/** All in milliseconds. */
export interface ArtifactTimeouts {
  /** Until a connection stands. */
  connect: number;
  /** Silence on a connection in use: between request and answer, or between two chunks of a body. */
  idle: number;
  /** One call in all, retries included; for `get` until its stream begins. */
  total: number;
}

export const DEFAULT_TIMEOUTS: ArtifactTimeouts = { connect: 3_000, idle: 15_000, total: 120_000 };
export const DEFAULT_MAX_ATTEMPTS = 3;
