import { createHash } from "node:crypto";
import { Transform, pipeline, type Readable } from "node:stream";
import { pullScope, pushScope, type Scope } from "./auth.js";
import { RegistryDenied, RegistryError, RegistryLied, RegistryNotFound, RegistryRefused } from "./errors.js";
import { discard, type RegistryAnswer, type Transport } from "./transport.js";
import { verifyBlob } from "./verify.js";

export interface BlobIdentity {
  digest: string;
  size: number;
}

/** Bytes to push, opened anew for each try. */
export interface BlobSource {
  open(): Promise<Readable>;
  /** Refuses bytes of another digest. Without it the digest is whatever was read. */
  digest?: string;
  /** Sent as Content-Length; some registries refuse a chunked upload. */
  size?: number;
}

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

/**
 * Streams a blob up in one chunk and closes it with the digest computed on the way: the digest need not be known
 * before, and nothing is kept in memory. What failed half-way is cancelled and, where that may help, done again.
 *
 * @throws RegistryLied when the source's bytes have another digest or size than it states; RegistryError; whatever the
 *   source's stream fails with
 */
export async function uploadBlob(
  transport: Transport,
  repository: string,
  source: BlobSource,
  signal?: AbortSignal,
): Promise<BlobIdentity> {
  return transport.retrying(signal, async () => {
    const scopes = [pushScope(repository)];
    const common = { scopes, what: `push a blob to ${repository}`, ...(signal ? { signal } : {}) };
    const started = await transport.request({
      ...common,
      method: "POST",
      url: `/v2/${repository}/blobs/uploads/`,
      headers: { "content-length": "0" },
      expect: [202],
      repeatable: false,
    });
    await discard(started.body);
    const session = { url: uploadUrl(started) };
    try {
      const meter = meterBlob(await source.open());
      const sent = await sendChunk(transport, { ...common, session, source, stream: meter.stream });
      await discard(sent.body);
      session.url = uploadUrl(sent);
      const blob = meter.identity();
      checkIdentity(blob, source);
      const url = new URL(session.url);
      url.searchParams.set("digest", blob.digest);
      const closed = await transport.request({
        ...common,
        method: "PUT",
        url,
        headers: { "content-length": "0" },
        expect: [201],
        repeatable: false,
      });
      await discard(closed.body);
      return blob;
    } catch (error) {
      await cancelUpload(transport, session.url, scopes);
      throw error;
    }
  });
}

interface Chunk {
  scopes: Scope[];
  what: string;
  session: { url: URL };
  source: BlobSource;
  stream: Readable;
  signal?: AbortSignal;
}

async function sendChunk(transport: Transport, { session, source, stream, ...common }: Chunk): Promise<RegistryAnswer> {
  const failure = new Promise<never>((_resolve, reject) => stream.once("error", reject));
  failure.catch(() => undefined);
  const length = source.size === undefined ? {} : { "content-length": String(source.size) };
  const sending = transport.request({
    ...common,
    method: "PATCH",
    url: session.url,
    headers: { "content-type": "application/octet-stream", ...length },
    body: () => Promise.resolve(stream),
    expect: [202, 204],
    repeatable: false,
  });
  try {
    // The source's own error says more than the "request aborted" that it causes.
    return await Promise.race([sending, failure]);
  } catch (error) {
    sending.catch(() => undefined);
    throw stream.errored && !(error instanceof RegistryError && error !== stream.errored) ? stream.errored : error;
  } finally {
    stream.destroy();
  }
}

function meterBlob(source: Readable): { stream: Readable; identity(): BlobIdentity } {
  const hash = createHash("sha256");
  let size = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      size += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // Errors of the source reach whoever reads the meter.
  const stream = pipeline(source, meter, () => undefined);
  return { stream, identity: () => ({ digest: `sha256:${hash.digest("hex")}`, size }) };
}

function checkIdentity(blob: BlobIdentity, source: BlobSource): void {
  if (source.digest !== undefined && source.digest !== blob.digest)
    throw new RegistryLied(`A blob to push has digest ${blob.digest} where ${source.digest} was promised`);
  if (source.size !== undefined && source.size !== blob.size)
    throw new RegistryLied(`A blob to push has ${blob.size} bytes where ${source.size} were promised`);
}

/** `Location` carries the upload's state in its query: it is used whole, and its origin may differ from the registry's. */
function uploadUrl(answer: RegistryAnswer): URL {
  const location = answer.headers.location;
  if (typeof location !== "string" || !URL.canParse(location, answer.url.href))
    throw new RegistryLied(`${answer.url.host} began an upload without saying where`);
  return new URL(location, answer.url);
}

/** Best effort: the registry purges what is left over. */
async function cancelUpload(transport: Transport, url: URL, scopes: readonly Scope[]): Promise<void> {
  const request = {
    method: "DELETE",
    url,
    scopes,
    expect: [200, 202, 204, 404, 405],
    what: "cancel an upload",
    repeatable: false,
  } as const;
  await transport.request(request).then(
    ({ body }) => discard(body),
    () => undefined,
  );
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
