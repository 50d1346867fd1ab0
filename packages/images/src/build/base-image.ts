import type { RegistryClient } from "../registry/client.js";
import {
  ImageConfig,
  ImageIndex,
  ImageManifest,
  INDEX_TYPES,
  MEDIA_TYPES,
  parseDocument,
  type Descriptor,
} from "../registry/documents.js";
import { RegistryLied } from "../registry/errors.js";
import type { ImageReference } from "../registry/reference.js";
import { BaseImageUnusable } from "./errors.js";
import type { Platform } from "./strategy.js";

/** A base image for one platform, verified down to its config. */
export interface BaseImage {
  repository: string;
  config: ImageConfig;
  /** With OCI media types, whatever the base had. */
  layers: Descriptor[];
}

const CONFIG_BYTES = 4 << 20;
/** Docker's names of layers and OCI's; a registry accepts a mixed manifest, and skopeo then refuses the image. */
const LAYER_TYPES = new Map<string, string>([
  ["application/vnd.docker.image.rootfs.diff.tar.gzip", MEDIA_TYPES.layerGzip],
  ["application/vnd.docker.image.rootfs.diff.tar", "application/vnd.oci.image.layer.v1.tar"],
  [MEDIA_TYPES.layerGzip, MEDIA_TYPES.layerGzip],
  ["application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar"],
  ["application/vnd.oci.image.layer.v1.tar+zstd", "application/vnd.oci.image.layer.v1.tar+zstd"],
]);

/**
 * Reads a base image, choosing of an index by platform. The config has the last word: an index may say what it likes,
 * and entries of attestations say `unknown` (D18).
 *
 * @throws BaseImageUnusable naming the missing platform; RegistryError
 */
export async function readBaseImage(
  registry: RegistryClient,
  reference: ImageReference,
  platform: Platform,
  signal?: AbortSignal,
): Promise<BaseImage> {
  const { repository, digest } = reference;
  const manifest = await readManifest(registry, reference, platform, signal);
  const bytes = await registry.readBlob(repository, manifest.config.digest, CONFIG_BYTES, signal);
  const config = parseDocument(ImageConfig, `The config of base image ${digest}`, bytes);
  if (config.os !== platform.os || config.architecture !== platform.architecture)
    throw new BaseImageUnusable(
      `Base image ${repository}@${digest} is for ${config.os}/${config.architecture}, needed is ${nameOf(platform)}`,
    );
  if (config.rootfs.diff_ids.length !== manifest.layers.length)
    throw new RegistryLied(
      `Base image ${digest} has ${manifest.layers.length} layers and ${config.rootfs.diff_ids.length} diff ids`,
    );
  return { repository, config, layers: manifest.layers.map((layer) => toOciLayer(layer, digest)) };
}

async function readManifest(
  registry: RegistryClient,
  { repository, digest }: ImageReference,
  platform: Platform,
  signal?: AbortSignal,
): Promise<ImageManifest> {
  const top = await registry.getManifest(repository, digest, signal);
  if (!INDEX_TYPES.has(top.mediaType)) return parseDocument(ImageManifest, `Base image ${digest}`, top.bytes);
  const { manifests } = parseDocument(ImageIndex, `Base image ${digest}`, top.bytes);
  const child = manifests.find(
    ({ platform: its }) => its?.os === platform.os && its.architecture === platform.architecture,
  );
  if (!child)
    throw new BaseImageUnusable(
      `Base image ${repository}@${digest} has nothing for ${nameOf(platform)}; it has ${platformsOf(manifests)}`,
    );
  const { bytes } = await registry.getManifest(repository, child.digest, signal);
  return parseDocument(ImageManifest, `Base image ${child.digest}`, bytes);
}

function toOciLayer({ mediaType, digest, size }: Descriptor, image: string): Descriptor {
  const oci = LAYER_TYPES.get(mediaType);
  if (oci === undefined)
    throw new BaseImageUnusable(
      `Base image ${image} has a layer of type ${mediaType.slice(0, 100)}, which can't be taken over`,
    );
  return { mediaType: oci, digest, size };
}

function platformsOf(manifests: readonly Descriptor[]): string {
  const names = manifests.map(({ platform }) => `${platform?.os ?? "unknown"}/${platform?.architecture ?? "unknown"}`);
  return [...new Set(names)].join(", ").slice(0, 300) || "no entries";
}

function nameOf({ os, architecture }: Platform): string {
  return `${os}/${architecture}`;
}
