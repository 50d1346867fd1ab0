import type { RegistryClient } from "../registry/client.js";
import { ImageManifest, parseDocument } from "../registry/documents.js";
import { RegistryNotFound } from "../registry/errors.js";
import { together } from "./together.js";

/**
 * Looks whether an image recorded earlier is still whole in the registry: manifest by digest, and every blob readable.
 *
 * @returns its manifest, or undefined when anything of it is gone
 */
export async function findWholeImage(
  registry: RegistryClient,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<ImageManifest | undefined> {
  const manifest = await readManifest(registry, repository, digest, signal);
  if (!manifest) return undefined;
  const blobs = [manifest.config, ...manifest.layers].map((blob) => blob.digest);
  const there = await together(signal, (either) => blobs.map((blob) => registry.hasBlob(repository, blob, either)));
  return there.every(Boolean) ? manifest : undefined;
}

async function readManifest(registry: RegistryClient, repository: string, digest: string, signal?: AbortSignal) {
  try {
    const { bytes } = await registry.getManifest(repository, digest, signal);
    return parseDocument(ImageManifest, `Image ${repository}@${digest}`, bytes);
  } catch (error) {
    if (error instanceof RegistryNotFound) return undefined;
    throw error;
  }
}
