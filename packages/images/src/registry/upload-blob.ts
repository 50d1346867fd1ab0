import { createHash } from "node:crypto";
import { Readable, Transform, addAbortSignal, pipeline } from "node:stream";
import { pushScope, type Scope } from "./auth.js";
import { RegistryError, RegistryLied } from "./errors.js";
import { discard, type RegistryAnswer, type Transport } from "./transport.js";
import { sha256Digest } from "./verify.js";

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

/** Blobs up to this are read first and sent in one request; larger ones are streamed. */
const SMALL_BLOB_BYTES = 256 << 10;

/**
 * Pushes a blob and names it by the bytes that were read: the digest need not be known before. A small one takes two
 * requests, the first of them while the source is read; a large one is streamed in one chunk, nothing of it kept in
 * memory. What failed half-way is cancelled and, where that may help, done again.
 *
 * @throws RegistryLied when the source's bytes have another digest or size than it states; RegistryError; whatever the
 *   source's stream fails with
 */
export function uploadBlob(
  transport: Transport,
  repository: string,
  source: BlobSource,
  signal?: AbortSignal,
): Promise<BlobIdentity> {
  const upload: Upload = {
    transport,
    source,
    common: { scopes: [pushScope(repository)], what: `push a blob to ${repository}`, ...(signal ? { signal } : {}) },
  };
  return transport.retrying(signal, async () => {
    const [begun, opened] = await Promise.allSettled([beginUpload(upload, repository), openSource(source, signal)]);
    if (begun.status === "rejected") {
      if (opened.status === "fulfilled" && "rest" in opened.value) opened.value.rest.destroy();
      throw begun.reason;
    }
    const session: Session = { url: begun.value };
    try {
      if (opened.status === "rejected") throw opened.reason;
      const send =
        "whole" in opened.value ? sendWhole(upload, session, opened.value) : sendStream(upload, session, opened.value);
      return await send;
    } catch (error) {
      await cancelUpload(transport, session.url, upload.common.scopes);
      throw error;
    }
  });
}

interface Upload {
  transport: Transport;
  source: BlobSource;
  common: { scopes: Scope[]; what: string; signal?: AbortSignal };
}

/** Where the upload goes on; changes with each answer. */
interface Session {
  url: URL;
}

type OpenedSource = { whole: Buffer } | { rest: Readable };

async function beginUpload({ transport, common }: Upload, repository: string): Promise<URL> {
  const url = `/v2/${repository}/blobs/uploads/`;
  const headers = { "content-length": "0" };
  const begun = await transport.request({ ...common, method: "POST", url, headers, expect: [202], repeatable: false });
  await discard(begun.body);
  return uploadUrl(begun);
}

/** Reads a small source whole; of a larger one gives a stream that begins with what was read. */
async function openSource(source: BlobSource, signal: AbortSignal | undefined): Promise<OpenedSource> {
  const stream = await source.open();
  if (signal) addAbortSignal(signal, stream);
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  const read: Buffer[] = [];
  let size = 0;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    read.push(next.value);
    size += next.value.length;
    if (size > SMALL_BLOB_BYTES) return { rest: Readable.from(goOn(read, iterator)) };
  }
  return { whole: Buffer.concat(read) };
}

async function* goOn(read: Buffer[], iterator: AsyncIterableIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* read;
  yield* iterator;
}

async function sendWhole(upload: Upload, session: Session, { whole }: { whole: Buffer }): Promise<BlobIdentity> {
  const blob = { digest: sha256Digest(whole), size: whole.length };
  checkIdentity(blob, upload.source);
  await closeUpload(upload, session, { digest: blob.digest, body: whole });
  return blob;
}

async function sendStream(upload: Upload, session: Session, { rest }: { rest: Readable }): Promise<BlobIdentity> {
  const meter = meterBlob(rest);
  const sent = await sendChunk(upload, session, meter.stream);
  await discard(sent.body);
  session.url = uploadUrl(sent);
  const blob = meter.identity();
  checkIdentity(blob, upload.source);
  await closeUpload(upload, session, { digest: blob.digest, body: Buffer.alloc(0) });
  return blob;
}

async function sendChunk(
  { transport, source, common }: Upload,
  session: Session,
  stream: Readable,
): Promise<RegistryAnswer> {
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

async function closeUpload(
  { transport, common }: Upload,
  session: Session,
  { digest, body }: { digest: string; body: Buffer },
): Promise<void> {
  const url = new URL(session.url);
  url.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream", "content-length": String(body.length) };
  const closed = await transport.request({
    ...common,
    method: "PUT",
    url,
    headers,
    body,
    expect: [201],
    repeatable: false,
  });
  await discard(closed.body);
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
export function uploadUrl(answer: RegistryAnswer): URL {
  const location = answer.headers.location;
  if (typeof location !== "string" || !URL.canParse(location, answer.url.href))
    throw new RegistryLied(`${answer.url.host} began an upload without saying where`);
  return new URL(location, answer.url);
}

/** Best effort: the registry purges what is left over. */
export async function cancelUpload(transport: Transport, url: URL, scopes: readonly Scope[]): Promise<void> {
  const expect = [200, 202, 204, 404, 405];
  const request = { method: "DELETE", url, scopes, expect, what: "cancel an upload", repeatable: false } as const;
  await transport.request(request).then(
    ({ body }) => discard(body),
    () => undefined,
  );
}
