import { S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUTS, type ArtifactStoreConfig } from "./config.js";

/** The SDK warns on the console of what it also throws. */
const ignore = (): void => undefined;
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * An SDK client that any S3-like understands. Since 3.729 the SDK adds `x-amz-checksum-*` and trailers to every upload,
 * which many stores refuse (aws-sdk-js-v3#6810): `WHEN_REQUIRED` takes them back.
 */
export function createS3Client(config: ArtifactStoreConfig, endpoint: string): S3Client {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...config.timeouts };
  return new S3Client({
    endpoint,
    region: config.region,
    forcePathStyle: config.forcePathStyle ?? true,
    credentials: { accessKeyId: config.accessKeyId, secretAccessKey: config.secretAccessKey },
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    followRegionRedirects: false,
    logger: SILENT,
    maxAttempts: config.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: timeouts.connect,
      socketTimeout: timeouts.idle,
    }),
  });
}
