import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, link, lstat, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { containLink, resolveInRoot, splitEntryName, UnsafePathError } from "./safe-path.js";

export interface UnpackLimits {
  /** Of all layers of an image together. */
  maxBytes: number;
  maxEntries: number;
}

/** What may still be unpacked of one image; shared by its layers. */
export interface UnpackBudget {
  bytes: number;
  entries: number;
}

export class ImageError extends Error {
  override readonly name = "ImageError";
}

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";
type Entry = AsyncIterable<Uint8Array> & { header: Header; resume(): void };

/** Neither setuid nor sticky bits, and the owner can always read, list and remove what was unpacked. */
const fileMode = (mode: number): number => (mode & 0o777) | 0o600;
const folderMode = (mode: number): number => (mode & 0o777) | 0o700;

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
};

/** Empties the way for an entry: a later entry replaces what is there, only a folder stays when a folder comes. */
const makeRoom = async (path: string, type: Header["type"]): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  if (type === "directory" && (await isFolder(path))) return;
  await rm(path, { recursive: true, force: true });
};

const applyWhiteout = async (folder: string, name: string): Promise<void> => {
  if (name !== OPAQUE) {
    const hidden = name.slice(WHITEOUT.length);
    if (hidden === "" || hidden === "." || hidden === "..") throw new UnsafePathError(`whiteout ${name} names no file`);
    return rm(join(folder, hidden), { recursive: true, force: true });
  }
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.map((entry) => rm(join(folder, entry), { recursive: true, force: true })));
};

const writeEntry = async (root: string, path: string, entry: Entry): Promise<void> => {
  const { type, mode, linkname } = entry.header;
  await makeRoom(path, type);
  switch (type) {
    case "directory":
      await mkdir(path, { recursive: true });
      return chmod(path, folderMode(mode));
    case "file":
    case "contiguous-file":
      await pipeline(entry, createWriteStream(path, { flags: "wx", mode: fileMode(mode) }));
      return chmod(path, fileMode(mode));
    case "symlink":
      return symlink(containLink(root, path, linkname), path);
    case "link": {
      const target = await resolveInRoot(root, splitEntryName(linkname));
      if (await isFolder(target)) throw new UnsafePathError(`${entry.header.name} is a hard link to a folder`);
      return link(target, path);
    }
    default:
      throw new ImageError(`${entry.header.name} is a ${type}: devcluster unpacks files and links only`);
  }
};

const spend = (budget: UnpackBudget, bytes: number): void => {
  budget.entries -= 1;
  budget.bytes -= bytes;
  if (budget.entries < 0) throw new ImageError("image has too many files for devcluster");
  if (budget.bytes < 0) throw new ImageError("image is too large for devcluster when unpacked");
};

const unpackEntry = async (root: string, entry: Entry, budget: UnpackBudget): Promise<void> => {
  spend(budget, entry.header.size);
  const parts = splitEntryName(entry.header.name);
  const name = parts.pop();
  if (name === undefined) return;
  const folder = await resolveInRoot(root, parts);
  if (name.startsWith(WHITEOUT)) return applyWhiteout(folder, name);
  return writeEntry(root, join(folder, name), entry);
};

/** Hashes what passes and ends with an error when it is not what was announced. */
const verify = (expected: string, what: string): Transform => {
  const hash = createHash("sha256");
  return new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      const actual = `sha256:${hash.digest("hex")}`;
      done(actual === expected ? null : new ImageError(`${what} has digest ${actual}, expected ${expected}`));
    },
  });
};

export interface LayerSource {
  body: Readable;
  mediaType: string;
  digest: string;
  /** Digest of the uncompressed archive, by the image's config. */
  diffId: string;
}

const decompressor = (mediaType: string): Transform[] => {
  if (/[.+]tar\+gzip$|\.tar\.gzip$/.test(mediaType)) return [createGunzip()];
  if (/\.tar$/.test(mediaType)) return [];
  throw new ImageError(`layer type ${mediaType} is not supported: push gzip or plain tar layers`);
};

/**
 * Unpacks a layer over what earlier layers have left in `root`, as an overlay would show it. Nothing is written outside
 * `root` whatever the archive says; compressed and uncompressed digest are checked.
 * @throws ImageError, UnsafePathError; `root` is then incomplete and to be removed
 */
export const unpackLayer = async (root: string, layer: LayerSource, budget: UnpackBudget): Promise<void> => {
  const archive = extract();
  const reading = pipeline([
    layer.body,
    verify(layer.digest, "layer"),
    ...decompressor(layer.mediaType),
    verify(layer.diffId, "uncompressed layer"),
    archive,
  ]);
  const writing = (async () => {
    for await (const entry of archive as AsyncIterable<Entry>) {
      await unpackEntry(root, entry, budget);
      entry.resume();
    }
  })();
  await Promise.all([reading, writing.catch((error: Error) => (archive.destroy(error), Promise.reject(error)))]);
};
