import type { Readable } from "node:stream";
import { hasBlob, mountBlob, openBlob } from "./blobs.js";
import { readBounded } from "./bounded-body.js";
import type { RegistryConfig } from "./config.js";
import { deleteManifest, getManifest, putManifest, type Manifest } from "./manifests.js";
import { checkRepository } from "./reference.js";
import { listTags } from "./tags.js";
import { createTransport, discard } from "./transport.js";
import { uploadBlob, type BlobIdentity, type BlobSource } from "./upload-blob.js";

/**
 * A client of one registry (OCI distribution specification 1.1). Digests are computed here and never taken from a
 * header. Every method retries what may pass, keeps to time and size limits, and throws a `RegistryError`.
 */
export interface RegistryClient {
  /** `host:port`, as in image references. */
  readonly host: string;
  getManifest(repository: string, reference: string, signal?: AbortSignal): Promise<Manifest>;
  putManifest(
    repository: string,
    tag: string,
    manifest: { bytes: Buffer; mediaType: string; signal?: AbortSignal | undefined },
  ): Promise<string>;
  deleteManifest(repository: string, digest: string, signal?: AbortSignal): Promise<boolean>;
  listTags(repository: string, signal?: AbortSignal): AsyncIterable<string>;
  openBlob(repository: string, digest: string, signal?: AbortSignal): Promise<Readable>;
  /** A small blob whole. @throws RegistryLied beyond `mostBytes` */
  readBlob(repository: string, digest: string, mostBytes: number, signal?: AbortSignal): Promise<Buffer>;
  hasBlob(repository: string, digest: string, signal?: AbortSignal): Promise<boolean>;
  mountBlob(
    repository: string,
    mount: { digest: string; from: string; signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  uploadBlob(repository: string, source: BlobSource, signal?: AbortSignal): Promise<BlobIdentity>;
  /** Resolves when the registry answers and takes the login; for readiness checks. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Connects to nothing yet: the first call does. */
export function createRegistryClient(config: RegistryConfig): RegistryClient {
  const transport = createTransport(config);
  return {
    host: transport.origin.host,
    getManifest: async (repository, ...rest) => getManifest(transport, checkRepository(repository), ...rest),
    putManifest: async (repository, ...rest) => putManifest(transport, checkRepository(repository), ...rest),
    deleteManifest: async (repository, ...rest) => deleteManifest(transport, checkRepository(repository), ...rest),
    listTags: (repository, signal) => listTags(transport, checkRepository(repository), signal),
    openBlob: async (repository, ...rest) => openBlob(transport, checkRepository(repository), ...rest),
    readBlob: async (repository, digest, mostBytes, signal) =>
      readBounded(await openBlob(transport, checkRepository(repository), digest, signal), mostBytes, `Blob ${digest}`),
    hasBlob: async (repository, ...rest) => hasBlob(transport, checkRepository(repository), ...rest),
    mountBlob: async (repository, mount) => mountBlob(transport, checkRepository(repository), mount),
    uploadBlob: async (repository, ...rest) => uploadBlob(transport, checkRepository(repository), ...rest),
    check: async (signal) => {
      const what = "reach the registry";
      const answer = await transport.request({
        method: "GET",
        url: "/v2/",
        scopes: [],
        expect: [200],
        what,
        ...(signal ? { signal } : {}),
      });
      await discard(answer.body);
    },
    close: () => transport.close(),
  };
}
