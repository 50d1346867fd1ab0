import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { crc32 } from "node:zlib";
import { S3Error } from "./errors.js";

const MAX_CHUNK_LINE = 16 * 1024;

/** Takes bytes off a stream by line and by count. */
const createReader = (source: AsyncIterable<Buffer>) => {
  const chunks = source[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);
  const fill = async (): Promise<void> => {
    const next = await chunks.next();
    if (next.done) throw new S3Error("InvalidArgument", "the chunked body ends too early");
    buffer = buffer.length > 0 ? Buffer.concat([buffer, next.value]) : next.value;
  };
  return {
    async line(): Promise<string> {
      while (!buffer.includes("\r\n")) {
        if (buffer.length > MAX_CHUNK_LINE)
          throw new S3Error("InvalidArgument", "a line of the chunked body is too long");
        await fill();
      }
      const end = buffer.indexOf("\r\n");
      const line = buffer.subarray(0, end).toString("latin1");
      buffer = buffer.subarray(end + 2);
      return line;
    },
    async *take(count: number): AsyncGenerator<Buffer> {
      for (let left = count; left > 0;) {
        if (buffer.length === 0) await fill();
        const part = buffer.subarray(0, left);
        buffer = buffer.subarray(part.length);
        left -= part.length;
        yield part;
      }
    },
  };
};

/** The content of an `aws-chunked` body; its trailers are handed over at the end. */
async function* decodeChunks(source: AsyncIterable<Buffer>, trailers: Map<string, string>): AsyncGenerator<Buffer> {
  const reader = createReader(source);
  for (;;) {
    const size = /^([0-9a-f]{1,8})(?:;|$)/i.exec(await reader.line())?.[1];
    if (size === undefined) throw new S3Error("InvalidArgument", "a chunk of the body has no size");
    const bytes = parseInt(size, 16);
    if (bytes === 0) break;
    yield* reader.take(bytes);
    await reader.line();
  }
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const colon = line.indexOf(":");
    trailers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
}

const toBase64 = (crc: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString("base64");
};

/**
 * The content of an upload, checked as far as the client has said what it is: sha256 of the signature, Content-MD5,
 * and S3's crc32 and sha256 checksums in header or trailer. The iteration ends with an error when one does not fit, so
 * nothing is stored.
 */
export async function* readUpload(req: IncomingMessage, payload: string): AsyncGenerator<Buffer> {
  const isChunked = payload.startsWith("STREAMING-");
  if (isChunked && payload !== "STREAMING-UNSIGNED-PAYLOAD-TRAILER") {
    throw new S3Error("NotImplemented", `${payload} is not supported: sign the payload as a whole or not at all`);
  }
  const trailers = new Map<string, string>();
  const sha256 = createHash("sha256");
  const md5 = createHash("md5");
  let crc = 0;
  for await (const chunk of isChunked ? decodeChunks(req, trailers) : (req as AsyncIterable<Buffer>)) {
    sha256.update(chunk);
    md5.update(chunk);
    crc = crc32(chunk, crc);
    yield chunk;
  }
  const said = (name: string): string | undefined => trailers.get(name) ?? (req.headers[name] as string | undefined);
  const digest = sha256.digest();
  if (/^[0-9a-f]{64}$/.test(payload) && payload !== digest.toString("hex")) {
    throw new S3Error(
      "XAmzContentSHA256Mismatch",
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  const checks: [string | undefined, string][] = [
    [said("content-md5"), md5.digest("base64")],
    [said("x-amz-checksum-crc32"), toBase64(crc)],
    [said("x-amz-checksum-sha256"), digest.toString("base64")],
  ];
  for (const [given, actual] of checks) {
    if (given !== undefined && given !== actual)
      throw new S3Error("BadDigest", "the body is not what its checksum says");
  }
}

/** A small body as a whole. */
export const readDocument = async (req: IncomingMessage, payload: string, maxBytes: number): Promise<string> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of readUpload(req, payload)) {
    bytes += part.length;
    if (bytes > maxBytes) throw new S3Error("EntityTooLarge", `the document may have at most ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
};
