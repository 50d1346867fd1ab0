import { Readable, pipeline } from "node:stream";
import { createInflateRaw, crc32, inflateRawSync, type InflateRaw } from "node:zlib";
import { CodeRejected, rejectEntry } from "../code/errors.js";
import type { TarSink } from "../layer/tar-sink.js";
import { gzipMemberHeader, gzipMemberTrailer } from "../layer/gzip-member.js";
import type { LocatedEntry } from "./local-header.js";
import { readExactly } from "./read-exactly.js";

/** Above this a file keeps its deflate stream; below, sharing a member with its neighbours compresses better. */
const REUSE_ABOVE_BYTES = 16 << 10;
/** Files up to this are inflated in one call, larger ones in pieces. */
const WHOLE_BYTES = 1 << 20;
const CHUNK_BYTES = 256 << 10;

/**
 * Writes a file's content, checking size, checksum and that its deflate stream fills its place exactly: a few bytes
 * behind its end would make a corrupt layer of a stream that is taken over as it is.
 */
export async function emitZipFile(fd: number, located: LocatedEntry, sink: TarSink): Promise<void> {
  const { head } = located;
  const reuse = !head.stored && head.size > REUSE_ABOVE_BYTES;
  if (head.size > WHOLE_BYTES) return reuse ? emitLargeDeflated(fd, located, sink) : emitLargeStored(fd, located, sink);
  const content = readWhole(fd, located);
  if (!reuse) return sink.content(content);
  sink.inflated(content);
  await sink.compressed(
    Buffer.concat([gzipMemberHeader(), rawData(fd, located), gzipMemberTrailer(head.crc, head.size)]),
  );
}

/** The whole content of a file of at most a few MiB, checked. */
export function readWhole(fd: number, located: LocatedEntry): Buffer {
  const { head } = located;
  const raw = rawData(fd, located);
  const content = head.stored ? raw : inflateWhole(raw, located);
  if (content.length !== head.size || crc32(content) !== head.crc) throw corrupt(located);
  return content;
}

function rawData(fd: number, { head, dataOffset, prefetched }: LocatedEntry): Buffer {
  return prefetched.length === head.compressedSize ? prefetched : readExactly(fd, dataOffset, head.compressedSize);
}

function inflateWhole(raw: Buffer, located: LocatedEntry): Buffer {
  const { size } = located.head;
  try {
    const options = { info: true, maxOutputLength: size + 1, chunkSize: Math.max(64, size + 1) };
    // @types/node does not know that `info: true` changes the result (node:zlib, "info" option).
    const { buffer, engine } = inflateRawSync(raw, options) as unknown as { buffer: Buffer; engine: InflateRaw };
    if (engine.bytesWritten !== raw.length) throw trailing(located);
    return buffer;
  } catch (cause) {
    throw cause instanceof CodeRejected ? cause : corrupt(located);
  }
}

async function emitLargeStored(fd: number, located: LocatedEntry, sink: TarSink): Promise<void> {
  let crc = 0;
  for (const chunk of rawChunks(fd, located)) {
    crc = crc32(chunk, crc);
    await sink.content(chunk);
  }
  if (crc !== located.head.crc) throw corrupt(located);
}

async function emitLargeDeflated(fd: number, located: LocatedEntry, sink: TarSink): Promise<void> {
  const { head } = located;
  await sink.compressed(gzipMemberHeader());
  let crc = 0;
  let size = 0;
  for await (const chunk of inflateChunks(fd, located, (raw) => sink.compressed(raw))) {
    size += chunk.length;
    if (size > head.size) throw corrupt(located);
    crc = crc32(chunk, crc);
    sink.inflated(chunk);
  }
  if (size !== head.size || crc !== head.crc) throw corrupt(located);
  await sink.compressed(gzipMemberTrailer(head.crc, head.size));
}

/** Inflates in pieces; `onRaw` sees each compressed piece before its content comes out. */
async function* inflateChunks(
  fd: number,
  located: LocatedEntry,
  onRaw: (chunk: Buffer) => Promise<void> | void,
): AsyncGenerator<Buffer> {
  const engine = createInflateRaw({ chunkSize: CHUNK_BYTES });
  async function* raw(): AsyncGenerator<Buffer> {
    for (const chunk of rawChunks(fd, located)) {
      await onRaw(chunk);
      yield chunk;
    }
  }
  try {
    for await (const chunk of pipeline(Readable.from(raw()), engine, () => undefined)) yield chunk as Buffer;
  } catch (cause) {
    throw cause instanceof CodeRejected ? cause : corrupt(located);
  }
  if (engine.bytesWritten !== located.head.compressedSize) throw trailing(located);
}

function* rawChunks(fd: number, { head, dataOffset }: LocatedEntry): Generator<Buffer> {
  for (let at = 0; at < head.compressedSize; at += CHUNK_BYTES)
    yield readExactly(fd, dataOffset + at, Math.min(CHUNK_BYTES, head.compressedSize - at));
}

function corrupt({ head }: LocatedEntry): CodeRejected {
  return rejectEntry(
    "Corrupt",
    head.path,
    "is damaged: its content does not have the size and checksum that the zip states",
  );
}

function trailing({ head }: LocatedEntry): CodeRejected {
  return rejectEntry("Corrupt", head.path, "has bytes behind the end of its compressed data");
}
