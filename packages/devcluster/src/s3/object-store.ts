import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { S3Error } from "./errors.js";

export interface ObjectInfo {
  key: string;
  size: number;
  /** md5, hex, as S3 has it for an upload in one piece. */
  etag: string;
  /** ms since the epoch */
  modified: number;
  /** Headers to give back: content-type and its kin, x-amz-meta-*. */
  headers: Record<string, string>;
}

/** The objects of one bucket: one file each, an index in memory. */
export interface Bucket {
  get(key: string): ObjectInfo | undefined;
  /** @param start first byte, @param end last byte, inclusive */
  read(info: ObjectInfo, start?: number, end?: number): Readable;
  /** Writes the whole body and only then puts it in the place of what was there. */
  put(key: string, body: AsyncIterable<Buffer>, headers: Record<string, string>): Promise<ObjectInfo>;
  delete(key: string): Promise<void>;
  /** Keys in byte order. */
  keys(): string[];
}

/** In front of the content stands its description, in a block of fixed size: one rename stores both. */
const HEADER_BYTES = 8192;
const MAX_HEADERS_BYTES = 4096;

const fileOf = (folder: string, key: string): string => {
  const hash = createHash("sha256").update(key).digest("hex");
  return join(folder, hash.slice(0, 2), hash);
};

const readInfo = async (file: string): Promise<ObjectInfo> => {
  const handle = await open(file, "r");
  try {
    const block = Buffer.alloc(HEADER_BYTES);
    await handle.read(block, 0, HEADER_BYTES, 0);
    return JSON.parse(block.toString("utf8").trim()) as ObjectInfo;
  } finally {
    await handle.close();
  }
};

const loadIndex = async (folder: string): Promise<Map<string, ObjectInfo>> => {
  const index = new Map<string, ObjectInfo>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const file = join(entry.parentPath, entry.name);
    // A dot leads what a killed process had not finished: nobody was told that it is stored.
    if (entry.name.startsWith(".")) await rm(file, { force: true });
    else {
      const info = await readInfo(file);
      index.set(info.key, info);
    }
  }
  return index;
};

const writeBody = async (handle: FileHandle, body: AsyncIterable<Buffer>, maxBytes: number) => {
  const md5 = createHash("md5");
  let size = 0;
  for await (const chunk of body) {
    if (size + chunk.length > maxBytes)
      throw new S3Error("EntityTooLarge", `an object may have at most ${maxBytes} bytes`);
    md5.update(chunk);
    await handle.write(chunk, 0, chunk.length, HEADER_BYTES + size);
    size += chunk.length;
  }
  return { size, etag: md5.digest("hex") };
};

/** Opens a bucket's folder, made when absent. */
export const openBucket = async (folder: string, maxBytes: number): Promise<Bucket> => {
  await mkdir(folder, { recursive: true });
  const index = await loadIndex(folder);
  let sorted: string[] | undefined;

  const store = async (key: string, temporary: string, fill: (handle: FileHandle) => Promise<ObjectInfo>) => {
    const handle = await open(temporary, "wx", 0o600);
    try {
      const info = await fill(handle);
      const block = Buffer.alloc(HEADER_BYTES, " ");
      block.write(JSON.stringify(info));
      await handle.write(block, 0, HEADER_BYTES, 0);
      await handle.sync();
      await handle.close();
      await rename(temporary, fileOf(folder, key));
      return info;
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
      throw error;
    }
  };

  return {
    get: (key) => index.get(key),
    read: ({ key, size }, start = 0, end = size - 1) =>
      createReadStream(fileOf(folder, key), { start: HEADER_BYTES + start, end: HEADER_BYTES + end }),
    async put(key, body, headers) {
      if (JSON.stringify(headers).length > MAX_HEADERS_BYTES) {
        throw new S3Error("InvalidArgument", `metadata may have at most ${MAX_HEADERS_BYTES} bytes`);
      }
      const shard = join(fileOf(folder, key), "..");
      await mkdir(shard, { recursive: true });
      const info = await store(key, join(shard, `.${randomUUID()}`), async (handle) => ({
        key,
        ...(await writeBody(handle, body, maxBytes)),
        modified: Date.now(),
        headers,
      }));
      index.set(key, info);
      sorted = undefined;
      return info;
    },
    async delete(key) {
      if (!index.delete(key)) return;
      sorted = undefined;
      await rm(fileOf(folder, key), { force: true });
    },
    keys: () => (sorted ??= [...index.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))),
  };
};
