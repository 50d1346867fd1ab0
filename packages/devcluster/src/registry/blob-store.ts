import { createReadStream } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { ByteRange } from "../byte-range.js";
import { RegistryError } from "./errors.js";
import { digestHex, type Digest } from "./names.js";

/**
 * Blobs by their digest, one file each, and the links that say which repository may see which blob.
 * A blob that lies on disk for one repository stays invisible to another until it is pushed or mounted there.
 */
export interface BlobStore {
  /** Bytes of a blob that `repository` may see. Seen blobs are young again for garbage collection. */
  size(repository: string, digest: Digest): Promise<number>;
  has(repository: string, digest: Digest): Promise<boolean>;
  read(digest: Digest, range?: ByteRange): Readable;
  /** Takes over a finished, verified temporary file and links it to the repository. */
  adopt(file: string, digest: Digest, repository: string): Promise<void>;
  /** Links a blob of another repository; false when it has none. */
  mount(digest: Digest, from: string, to: string): Promise<boolean>;
  unlink(repository: string, digest: Digest): Promise<void>;
  linked(repository: string): Promise<Digest[]>;
  /** Time of the last push, mount or look of a link, in ms since the epoch; undefined when there is none. */
  lastUse(repository: string, digest: Digest): Promise<number | undefined>;
  all(): Promise<Digest[]>;
  /** Removes a blob that nobody has pushed, mounted or looked at since `before` (ms). @returns bytes freed, or nothing */
  removeUnused(digest: Digest, before: number): Promise<number | undefined>;
}

const exists = async (file: string): Promise<boolean> => (await fileSize(file)) !== undefined;

const fileSize = async (file: string): Promise<number | undefined> => {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

const list = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
};

/** @param root folder of the registry; made when absent */
export const createBlobStore = (root: string): BlobStore => {
  const blobFile = (digest: Digest) => join(root, "blobs", digestHex(digest).slice(0, 2), digestHex(digest));
  const links = (repository: string) => join(root, "repositories", repository, "_layers");
  const link = (repository: string, digest: Digest) => join(links(repository), digestHex(digest));

  const touchLink = async (repository: string, digest: Digest): Promise<void> => {
    await mkdir(links(repository), { recursive: true });
    await writeFile(link(repository, digest), "");
  };
  const markUsed = async (repository: string, digest: Digest): Promise<void> => {
    const now = new Date();
    await utimes(link(repository, digest), now, now);
    await utimes(blobFile(digest), now, now);
  };
  const has = async (repository: string, digest: Digest): Promise<boolean> =>
    (await exists(link(repository, digest))) && (await exists(blobFile(digest)));

  return {
    has,
    async size(repository, digest) {
      const bytes = (await exists(link(repository, digest))) ? await fileSize(blobFile(digest)) : undefined;
      if (bytes === undefined) throw new RegistryError("BLOB_UNKNOWN", "blob unknown to this repository", digest);
      await markUsed(repository, digest);
      return bytes;
    },
    read: (digest, range) => createReadStream(blobFile(digest), range),
    async adopt(file, digest, repository) {
      await mkdir(dirname(blobFile(digest)), { recursive: true });
      await rename(file, blobFile(digest));
      await touchLink(repository, digest);
    },
    async mount(digest, from, to) {
      if (!(await has(from, digest))) return false;
      await touchLink(to, digest);
      await markUsed(to, digest);
      return true;
    },
    async unlink(repository, digest) {
      if (!(await exists(link(repository, digest)))) {
        throw new RegistryError("BLOB_UNKNOWN", "blob unknown to this repository", digest);
      }
      await rm(link(repository, digest), { force: true });
    },
    linked: async (repository) => (await list(links(repository))).map((hex): Digest => `sha256:${hex}`),
    async lastUse(repository, digest) {
      try {
        return (await stat(link(repository, digest))).mtimeMs;
      } catch {
        return undefined;
      }
    },
    async all() {
      const folders = await list(join(root, "blobs"));
      const files = await Promise.all(folders.map((folder) => list(join(root, "blobs", folder))));
      return files.flat().map((hex): Digest => `sha256:${hex}`);
    },
    async removeUnused(digest, before) {
      const { mtimeMs, size } = await stat(blobFile(digest));
      if (mtimeMs > before) return undefined;
      await rm(blobFile(digest), { force: true });
      return size;
    },
  };
};
