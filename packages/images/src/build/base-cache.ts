import type { RegistryClient } from "../registry/client.js";
import { formatImageReference, type ImageReference } from "../registry/reference.js";
import { readBaseImage, type BaseImage } from "./base-image.js";
import type { Platform } from "./strategy.js";

export type ReadBase = (
  registry: RegistryClient,
  reference: ImageReference,
  platform: Platform,
  signal?: AbortSignal,
) => Promise<BaseImage>;

/** Runtimes of a platform are a handful; tenants can't name a base. */
const MOST_BASES = 32;

/** Remembers base images: named by digest, their documents can't change. Whether their blobs are there is asked anew each time. */
export function cacheBaseImages(): ReadBase {
  const known = new Map<string, BaseImage>();
  return async (registry, reference, platform, signal) => {
    const key = `${formatImageReference(reference)} ${platform.os}/${platform.architecture}`;
    const cached = known.get(key);
    if (cached) return cached;
    const base = await readBaseImage(registry, reference, platform, signal);
    if (known.size >= MOST_BASES) known.clear();
    known.set(key, base);
    return base;
  };
}
