import type { RegistryClient } from "../registry/client.js";
import type { Descriptor } from "../registry/documents.js";
import type { BaseImage } from "./base-image.js";
import { together } from "./together.js";

export interface LayerSharing {
  source: RegistryClient;
  target: RegistryClient;
  /** In the target. */
  repository: string;
}

/**
 * Makes all layers of a base image readable in the function's repository: mounted inside one registry, copied where a
 * mount is refused, across registries, or when the registry only believes that it has the blob.
 */
export async function shareLayers(base: BaseImage, sharing: LayerSharing, signal: AbortSignal): Promise<void> {
  await together(signal, (either) => base.layers.map((layer) => shareLayer(base.repository, layer, sharing, either)));
}

async function shareLayer(
  from: string,
  { digest, size }: Descriptor,
  sharing: LayerSharing,
  signal: AbortSignal,
): Promise<void> {
  const { source, target, repository } = sharing;
  const mounted = source === target && (await target.mountBlob(repository, { digest, from, signal }));
  if ((mounted || source !== target) && (await target.hasBlob(repository, digest, signal))) return;
  await target.uploadBlob(repository, { open: () => source.openBlob(from, digest, signal), digest, size }, signal);
}
