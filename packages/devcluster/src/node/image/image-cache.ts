import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseImageReference } from "./reference.js";
import type { ImageConfig, Manifest, RegistryReader } from "./registry-client.js";
import { ImageError, unpackLayer, type UnpackLimits } from "./unpack-layer.js";

export interface UnpackedImage {
  /** Digest of the manifest. */
  digest: string;
  rootfs: string;
  config: ImageConfig;
}

export type PullPolicy = "Always" | "IfNotPresent" | "Never";

export interface PullRequest {
  image: string;
  policy: PullPolicy;
  reader: RegistryReader;
}

export interface ImageLease {
  image: UnpackedImage;
  /** False when it was there already. */
  pulled: boolean;
  release(): void;
}

/** Images unpacked on disk by their digest, shared by pods, kept while used and for a while after. */
export interface ImageCache {
  /** @throws ImageError with the registry's reason */
  acquire(request: PullRequest): Promise<ImageLease>;
}

export interface ImageCacheOptions {
  folder: string;
  limits?: UnpackLimits;
  /** Unused images to keep for the next start; default 20. */
  keepUnused?: number;
}

interface Entry {
  image: Promise<UnpackedImage>;
  users: number;
  lastUse: number;
}

const DEFAULT_LIMITS: UnpackLimits = { maxBytes: 2 * 1024 ** 3, maxEntries: 200_000 };
const CONFIG_FILE = "config.json";

const folderOf = (root: string, digest: string): string => join(root, digest.replace(":", "-"));

const unpack = async (root: string, request: PullRequest, manifest: Manifest, limits: UnpackLimits) => {
  const reference = parseImageReference(request.image);
  const { config, diffIds } = await request.reader.config(reference, manifest);
  if (diffIds.length !== manifest.layers.length)
    throw new ImageError("image config does not list each layer's diff id");
  const temporary = join(root, `.${randomUUID()}`);
  const rootfs = join(temporary, "rootfs");
  await mkdir(rootfs, { recursive: true });
  try {
    const budget = { bytes: limits.maxBytes, entries: limits.maxEntries };
    for (const [i, layer] of manifest.layers.entries()) {
      const body = await request.reader.layer(reference, layer);
      await unpackLayer(rootfs, { ...layer, body, diffId: diffIds[i] ?? "" }, budget);
    }
    await writeFile(join(temporary, CONFIG_FILE), JSON.stringify(config));
    await rename(temporary, folderOf(root, manifest.digest));
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
};

const loadUnpacked = async (root: string, digest: string): Promise<UnpackedImage | undefined> => {
  const folder = folderOf(root, digest);
  try {
    const config = JSON.parse(await readFile(join(folder, CONFIG_FILE), "utf8")) as ImageConfig;
    return { digest, rootfs: join(folder, "rootfs"), config };
  } catch {
    return undefined;
  }
};

/** What earlier runs have left ready; what they left half unpacked is removed. */
const loadEntries = async (folder: string): Promise<Map<string, Entry>> => {
  const entries = new Map<string, Entry>();
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const digest = name.replace("-", ":");
    const image = name.startsWith(".") ? undefined : await loadUnpacked(folder, digest);
    if (image) entries.set(digest, { image: Promise.resolve(image), users: 0, lastUse: 0 });
    else await rm(join(folder, name), { recursive: true, force: true });
  }
  return entries;
};

export const createImageCache = async (options: ImageCacheOptions): Promise<ImageCache> => {
  const entries = await loadEntries(options.folder);
  return createCache({ limits: DEFAULT_LIMITS, keepUnused: 20, ...options }, entries);
};

const createCache = (
  { folder, limits, keepUnused }: Required<ImageCacheOptions>,
  entries: Map<string, Entry>,
): ImageCache => {
  /** Which digest a name stood for when it was last pulled, for IfNotPresent and Never. */
  const known = new Map<string, string>();

  const evict = async (): Promise<void> => {
    const unused = [...entries].filter(([, entry]) => entry.users === 0).sort(([, a], [, b]) => b.lastUse - a.lastUse);
    for (const [digest] of unused.slice(keepUnused)) {
      entries.delete(digest);
      // Renamed first: a pod that asks for it again meanwhile unpacks it anew.
      const doomed = join(folder, `.${randomUUID()}`);
      await rename(folderOf(folder, digest), doomed);
      await rm(doomed, { recursive: true, force: true });
    }
  };
  const lease = async (digest: string, entry: Entry, pulled: boolean): Promise<ImageLease> => {
    entry.users += 1;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      entry.users -= 1;
      entry.lastUse = Date.now();
      void evict().catch(() => undefined);
    };
    try {
      return { image: await entry.image, pulled, release };
    } catch (error) {
      entries.delete(digest);
      throw error;
    }
  };

  const localDigest = ({ image, policy }: PullRequest): string | undefined => {
    if (policy === "Always") return undefined;
    const pinned = /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
    return pinned ?? known.get(image);
  };

  return {
    async acquire(request) {
      const local = localDigest(request);
      const present = local === undefined ? undefined : entries.get(local);
      if (local !== undefined && present) return lease(local, present, false);
      if (request.policy === "Never") {
        throw new ImageError(`container image "${request.image}" is not present with pull policy of Never`);
      }
      const manifest = await request.reader.manifest(parseImageReference(request.image));
      known.set(request.image, manifest.digest);
      const found = entries.get(manifest.digest);
      if (found) return lease(manifest.digest, found, false);
      const image = unpack(folder, request, manifest, limits).then(async () => {
        const unpacked = await loadUnpacked(folder, manifest.digest);
        if (!unpacked) throw new ImageError(`image ${manifest.digest} vanished while it was unpacked`);
        return unpacked;
      });
      const entry: Entry = { image, users: 0, lastUse: Date.now() };
      entries.set(manifest.digest, entry);
      return lease(manifest.digest, entry, true);
    },
  };
};
