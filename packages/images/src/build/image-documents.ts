import { MEDIA_TYPES, type ImageConfig, type ImageManifest } from "../registry/documents.js";
import { sha256Digest } from "../registry/verify.js";
import type { BaseImage } from "./base-image.js";
import type { BuildRequest } from "./strategy.js";

/** A layer that comes on top of the base. */
export interface AddedLayer {
  from: "dependencies" | "code";
  /** `sha256:…` of the uncompressed tar. */
  diffId: string;
  /** As it lies in the registry. */
  digest: string;
  size: number;
}

/** A document as it goes into the registry. */
export interface EncodedDocument<T> {
  document: T;
  bytes: Buffer;
  digest: string;
}

export interface ImageDocuments {
  config: EncodedDocument<ImageConfig>;
  /** Its digest is what a pod runs. */
  manifest: EncodedDocument<ImageManifest>;
}

/** Fixed, so that the same code on the same base is the same image. */
const CREATED = "1970-01-01T00:00:00Z";

/**
 * Makes config and manifest of a function's image, in OCI media types throughout. Nothing in them changes with the
 * version or its settings: a version that only changes a setting runs the image of the one before.
 */
export function makeImageDocuments(
  request: BuildRequest,
  base: BaseImage,
  added: readonly AddedLayer[],
): ImageDocuments {
  const marks = imageMarks(request);
  const config = encode(makeConfig(base.config, added, marks));
  const manifest = encode({
    schemaVersion: 2 as const,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.config, digest: config.digest, size: config.bytes.length },
    layers: [...base.layers, ...added.map(({ digest, size }) => ({ mediaType: MEDIA_TYPES.layerGzip, digest, size }))],
    annotations: marks,
  });
  return { config, manifest };
}

function encode<T>(document: T): EncodedDocument<T> {
  const bytes = Buffer.from(JSON.stringify(document));
  return { document, bytes, digest: sha256Digest(bytes) };
}

function makeConfig(base: ImageConfig, added: readonly AddedLayer[], marks: Record<string, string>): ImageConfig {
  const history = added.map(({ from, diffId }) => ({ created: CREATED, created_by: `sless: ${from} ${diffId}` }));
  return {
    ...base,
    created: CREATED,
    config: { ...base.config, Labels: { ...base.config?.Labels, ...marks } },
    rootfs: { type: "layers", diff_ids: [...base.rootfs.diff_ids, ...added.map(({ diffId }) => diffId)] },
    // Tools pair history with layers; a base without one must stay without.
    ...(base.history ? { history: [...base.history, ...history] } : {}),
  };
}

function imageMarks({ function: fn, code, base }: BuildRequest): Record<string, string> {
  return {
    "org.opencontainers.image.base.name": base,
    "sless.kube5s.ru/code-digest": code.codeDigest,
    "sless.kube5s.ru/function": fn.name,
    "sless.kube5s.ru/function-uid": fn.uid,
  };
}
