import { MEDIA_TYPES, type ImageConfig, type ImageManifest } from "../registry/documents.js";
import { sha256Digest } from "../registry/verify.js";
import type { BaseImage } from "./base-image.js";
import type { BuildRequest } from "./strategy.js";

/** A layer that comes on top of the base, by the digest of its uncompressed tar (`sha256:…`). */
export interface AddedDiffId {
  from: "dependencies" | "code";
  diffId: string;
}

/** The same as it lies in the registry. */
export interface AddedLayer {
  from: "dependencies" | "code";
  digest: string;
  size: number;
}

/** A document as it goes into the registry. */
export interface EncodedDocument<T> {
  document: T;
  bytes: Buffer;
  digest: string;
}

/** A base image with the config of the image that stands on it. */
export interface PreparedBase {
  base: BaseImage;
  config: EncodedDocument<ImageConfig>;
}

/** Fixed, so that the same code on the same base is the same image. */
const CREATED = "1970-01-01T00:00:00Z";

/**
 * Makes the config of a function's image: the base's with the added layers. Nothing in it changes with the version or
 * its settings: a version that only changes a setting runs the image of the one before.
 */
export function makeConfig(
  request: BuildRequest,
  { config: base }: BaseImage,
  added: readonly AddedDiffId[],
): EncodedDocument<ImageConfig> {
  const history = added.map(({ from, diffId }) => ({ created: CREATED, created_by: `sless: ${from} ${diffId}` }));
  return encode({
    ...base,
    created: CREATED,
    config: { ...base.config, Labels: { ...base.config?.Labels, ...imageMarks(request) } },
    rootfs: { type: "layers", diff_ids: [...base.rootfs.diff_ids, ...added.map(({ diffId }) => diffId)] },
    // Tools pair history with layers; a base without one must stay without.
    ...(base.history ? { history: [...base.history, ...history] } : {}),
  });
}

/** Makes the manifest, in OCI media types throughout; its digest is what a pod runs. */
export function makeManifest(
  request: BuildRequest,
  { base, config }: PreparedBase,
  added: readonly AddedLayer[],
): EncodedDocument<ImageManifest> {
  return encode({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.config, digest: config.digest, size: config.bytes.length },
    layers: [...base.layers, ...added.map(({ digest, size }) => ({ mediaType: MEDIA_TYPES.layerGzip, digest, size }))],
    annotations: imageMarks(request),
  } as const);
}

function encode<T>(document: T): EncodedDocument<T> {
  const bytes = Buffer.from(JSON.stringify(document));
  return { document, bytes, digest: sha256Digest(bytes) };
}

function imageMarks({ function: fn, code, base }: BuildRequest): Record<string, string> {
  return {
    "org.opencontainers.image.base.name": base,
    "sless.kube5s.ru/code-digest": code.codeDigest,
    "sless.kube5s.ru/function": fn.name,
    "sless.kube5s.ru/function-uid": fn.uid,
  };
}
