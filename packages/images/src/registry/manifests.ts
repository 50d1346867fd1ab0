import { deleteScope, pullScope, pushScope } from "./auth.js";
import { readBounded } from "./bounded-body.js";
import { MEDIA_TYPES } from "./documents.js";
import { RegistryLied, RegistryNotFound, RegistryRefused } from "./errors.js";
import { isDigest } from "./reference.js";
import { discard, type Transport } from "./transport.js";
import { sha256Digest } from "./verify.js";

export interface Manifest {
  bytes: Buffer;
  mediaType: string;
  /** Computed here. */
  digest: string;
}

/** The distribution specification lets registries refuse manifests above this. */
const MANIFEST_BYTES = 4 << 20;
const ACCEPT = [MEDIA_TYPES.manifest, MEDIA_TYPES.index, MEDIA_TYPES.dockerManifest, MEDIA_TYPES.dockerIndex].join(
  ", ",
);

/** @throws RegistryNotFound, RegistryLied when the bytes are not those of the digest asked for */
export async function getManifest(
  transport: Transport,
  repository: string,
  reference: string,
  signal?: AbortSignal,
): Promise<Manifest> {
  const answer = await transport.request({
    method: "GET",
    url: `/v2/${repository}/manifests/${reference}`,
    scopes: [pullScope(repository)],
    headers: { accept: ACCEPT },
    expect: [200],
    what: `read manifest ${repository}@${reference}`,
    ...(signal ? { signal } : {}),
  });
  const bytes = await readBounded(answer.body, MANIFEST_BYTES, `Manifest ${reference}`);
  const digest = sha256Digest(bytes);
  if (isDigest(reference) && digest !== reference)
    throw new RegistryLied(`${answer.url.host} sent ${digest} when asked for manifest ${reference}`);
  return {
    bytes,
    mediaType:
      String(answer.headers["content-type"] ?? "")
        .split(";")[0]
        ?.trim() ?? "",
    digest,
  };
}

/**
 * Stores a manifest under a tag, which keeps it from the registry's garbage collection.
 *
 * Where tags are immutable the repetition of a finished push is refused; it counts as done when the tag holds the same
 * digest, found by error code or status and never by an English text (D17).
 *
 * @returns the digest, computed here
 * @throws RegistryRefused when the tag holds another manifest and can't be moved
 */
export async function putManifest(
  transport: Transport,
  repository: string,
  tag: string,
  manifest: { bytes: Buffer; mediaType: string; signal?: AbortSignal | undefined },
): Promise<string> {
  const digest = sha256Digest(manifest.bytes);
  try {
    const answer = await transport.request({
      method: "PUT",
      url: `/v2/${repository}/manifests/${tag}`,
      scopes: [pushScope(repository)],
      headers: { "content-type": manifest.mediaType },
      body: manifest.bytes,
      expect: [200, 201, 202],
      what: `push manifest ${repository}:${tag}`,
      ...(manifest.signal ? { signal: manifest.signal } : {}),
    });
    await discard(answer.body);
  } catch (error) {
    if (!(error instanceof RegistryRefused)) throw error;
    if ((await tagDigest(transport, repository, tag)) !== digest) throw error;
  }
  return digest;
}

async function tagDigest(transport: Transport, repository: string, tag: string): Promise<string | undefined> {
  try {
    return (await getManifest(transport, repository, tag)).digest;
  } catch (error) {
    if (error instanceof RegistryNotFound) return undefined;
    throw error;
  }
}

/**
 * Deletes a manifest and with it all its tags.
 *
 * @returns false when it was gone already
 * @throws RegistryRefused with status 405 where the registry's operator has deletes off
 */
export async function deleteManifest(
  transport: Transport,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const answer = await transport.request({
      method: "DELETE",
      url: `/v2/${repository}/manifests/${digest}`,
      scopes: [deleteScope(repository)],
      expect: [200, 202],
      what: `delete manifest ${repository}@${digest}`,
      ...(signal ? { signal } : {}),
    });
    await discard(answer.body);
    return true;
  } catch (error) {
    if (error instanceof RegistryNotFound) return false;
    throw error;
  }
}
