import type { Readable } from "node:stream";
import { pullScope, pushScope } from "./auth.js";
import { RegistryDenied, RegistryNotFound, RegistryRefused } from "./errors.js";
import { discard, type RegistryAnswer, type Transport } from "./transport.js";
import { cancelUpload, uploadUrl } from "./upload-blob.js";
import { verifyBlob } from "./verify.js";

const LARGEST_BLOB = 10 * 2 ** 30;

/** Opens a blob; the stream fails at its end when the bytes are not those of the digest. @throws RegistryNotFound */
export async function openBlob(
  transport: Transport,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<Readable> {
  const answer = await transport.request({ ...blobRequest(repository, digest, signal), expect: [200] });
  return verifyBlob(answer.body, digest, LARGEST_BLOB);
}

/**
 * Whether a blob can really be read. After a garbage collection registry 2.8 answers 200 to HEAD and 201 to a mount of
 * a blob that is gone, so this asks for its first byte.
 */
export async function hasBlob(
  transport: Transport,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const probe = { ...blobRequest(repository, digest, signal), headers: { range: "bytes=0-0" } };
  try {
    const answer = await transport.request({ ...probe, expect: [200, 206, 416], repeatable: true });
    return await hasFirstByte(answer);
  } catch (error) {
    if (error instanceof RegistryNotFound) return false;
    throw error;
  }
}

async function hasFirstByte({ status, body }: RegistryAnswer): Promise<boolean> {
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) if (chunk.length > 0) return true;
    // Only an empty blob has no first byte; no layer or config is empty.
    return status === 416;
  } catch {
    return false;
  } finally {
    body.destroy();
  }
}

/**
 * Lets a repository share another's blob.
 *
 * @returns false when the registry would rather have it uploaded, for whatever reason: 202 with an upload (cancelled
 *   here), a refused token for the other repository, an unknown parameter (D16)
 */
export async function mountBlob(
  transport: Transport,
  repository: string,
  { digest, from, signal }: { digest: string; from: string; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const scopes = [pushScope(repository), pullScope(from)];
  const query = new URLSearchParams({ mount: digest, from });
  try {
    const answer = await transport.request({
      method: "POST",
      url: `/v2/${repository}/blobs/uploads/?${query.toString()}`,
      scopes,
      headers: { "content-length": "0" },
      expect: [201, 202],
      what: `mount blob ${digest} from ${from}`,
      ...(signal ? { signal } : {}),
    });
    await discard(answer.body);
    if (answer.status === 201) return true;
    await cancelUpload(transport, uploadUrl(answer), scopes);
    return false;
  } catch (error) {
    const refused =
      error instanceof RegistryDenied || error instanceof RegistryRefused || error instanceof RegistryNotFound;
    if (!refused) throw error;
    return false;
  }
}

function blobRequest(repository: string, digest: string, signal?: AbortSignal) {
  return {
    method: "GET" as const,
    url: `/v2/${repository}/blobs/${digest}`,
    scopes: [pullScope(repository)],
    what: `read blob ${repository}@${digest}`,
    ...(signal ? { signal } : {}),
  };
}
