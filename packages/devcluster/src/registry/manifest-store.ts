import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BlobStore } from "./blob-store.js";
import { RegistryError } from "./errors.js";
import { digestHex, isDigest, parseDigest, parseTag, type Digest } from "./names.js";

export interface StoredManifest {
  digest: Digest;
  mediaType: string;
  body: Buffer;
}

/** What a manifest points at: blobs (config, layers) or other manifests (of an index). */
export interface References {
  blobs: Digest[];
  manifests: Digest[];
}

export interface ManifestStore {
  /** @param reference a tag or a digest. @throws RegistryError MANIFEST_UNKNOWN */
  get(repository: string, reference: string): Promise<StoredManifest>;
  /** Stores a manifest whose references exist, under its digest and, when `reference` is a tag, under that. */
  put(repository: string, reference: string, manifest: { body: Buffer; mediaType: string }): Promise<Digest>;
  /** A digest goes with all its tags; a tag goes alone. */
  remove(repository: string, reference: string): Promise<void>;
  tags(repository: string): Promise<string[]>;
  /** Repositories that ever held a manifest. */
  repositories(): Promise<string[]>;
  /** The same and those that hold blobs alone. */
  allFolders(): Promise<string[]>;
  /** Every reference of every manifest of a repository, tagged or not: pods run images by digest. */
  references(repository: string): Promise<Set<Digest>>;
}

const MANIFEST_TYPES = new Set([
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
]);
const INDEX_TYPES = new Set([
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
]);

interface Descriptor {
  digest?: unknown;
}
interface ManifestBody {
  mediaType?: unknown;
  config?: Descriptor;
  layers?: Descriptor[];
  manifests?: Descriptor[];
}

const invalid = (why: string): RegistryError => new RegistryError("MANIFEST_INVALID", why);

const digestsOf = (descriptors: unknown, where: string): Digest[] => {
  if (!Array.isArray(descriptors)) throw invalid(`${where} must be a list of descriptors`);
  return descriptors.map((descriptor: Descriptor | null) => parseDigest(String(descriptor?.digest)));
};

const parseJson = (body: Buffer): ManifestBody => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    throw invalid("manifest is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null) throw invalid("manifest is not a JSON object");
  return parsed;
};

/** Reads what a manifest references. @throws RegistryError MANIFEST_INVALID for unknown media types and shapes */
export const parseReferences = (body: Buffer, mediaType: string): References => {
  const manifest = parseJson(body);
  if (manifest.mediaType !== undefined && manifest.mediaType !== mediaType) {
    throw invalid(`mediaType in the manifest differs from the Content-Type ${mediaType}`);
  }
  if (INDEX_TYPES.has(mediaType)) return { blobs: [], manifests: digestsOf(manifest.manifests, "manifests") };
  if (!MANIFEST_TYPES.has(mediaType)) throw invalid(`media type ${mediaType} is not known`);
  return { blobs: [...digestsOf([manifest.config], "config"), ...digestsOf(manifest.layers, "layers")], manifests: [] };
};

const readIfPresent = async (file: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
};

/** Written beside its target and renamed, so a killed process leaves the old file or the new one, never half of one. */
const writeAtomically = async (file: string, body: Buffer | string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${randomUUID()}`);
  await writeFile(temporary, body, { mode: 0o600 });
  await rename(temporary, file);
};

export const createManifestStore = (root: string, blobs: BlobStore): ManifestStore => {
  const base = join(root, "repositories");
  const revisions = (repository: string) => join(base, repository, "_manifests", "revisions");
  const tagFolder = (repository: string) => join(base, repository, "_manifests", "tags");
  const revision = (repository: string, digest: Digest) => join(revisions(repository), digestHex(digest));
  const tagFile = (repository: string, tag: string) => join(tagFolder(repository), `t-${tag}`);
  const unknown = (reference: string) => new RegistryError("MANIFEST_UNKNOWN", "manifest unknown", reference);

  const resolve = async (repository: string, reference: string): Promise<Digest> => {
    if (isDigest(reference)) return reference;
    const found = await readIfPresent(tagFile(repository, parseTag(reference)));
    if (!found) throw unknown(reference);
    return parseDigest(found.toString());
  };

  /** The media type stands on a first line of its own before the manifest's bytes, so one rename stores both. */
  const load = async (repository: string, digest: Digest): Promise<StoredManifest | undefined> => {
    const file = await readIfPresent(revision(repository, digest));
    if (!file) return undefined;
    const end = file.indexOf("\n");
    return { digest, mediaType: file.subarray(0, end).toString(), body: file.subarray(end + 1) };
  };

  const requireReferences = async (repository: string, references: References): Promise<void> => {
    for (const digest of references.blobs) {
      if (!(await blobs.has(repository, digest))) {
        throw new RegistryError("MANIFEST_BLOB_UNKNOWN", "manifest references a blob that is not here", digest);
      }
    }
    for (const digest of references.manifests) {
      if (!(await load(repository, digest))) {
        throw new RegistryError("MANIFEST_BLOB_UNKNOWN", "index references a manifest that is not here", digest);
      }
    }
  };

  const tags = async (repository: string): Promise<string[]> =>
    (await namesIn(tagFolder(repository))).map((name) => name.slice("t-".length));

  const walk = async (repository: string, markers: string[]): Promise<string[]> => {
    const names = await namesIn(join(base, repository));
    const found = names.some((name) => markers.includes(name)) ? [repository] : [];
    for (const name of names.filter((candidate) => !candidate.startsWith("_"))) {
      found.push(...(await walk(repository ? `${repository}/${name}` : name, markers)));
    }
    return found;
  };

  return {
    tags,
    repositories: async () => (await walk("", ["_manifests"])).sort(),
    allFolders: () => walk("", ["_manifests", "_layers"]),
    async get(repository, reference) {
      const manifest = await load(repository, await resolve(repository, reference));
      if (!manifest) throw unknown(reference);
      return manifest;
    },
    async put(repository, reference, { body, mediaType }) {
      const references = parseReferences(body, mediaType);
      const digest: Digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
      if (isDigest(reference) && reference !== digest) {
        throw new RegistryError("DIGEST_INVALID", `manifest has digest ${digest}`, reference);
      }
      if (!isDigest(reference)) parseTag(reference);
      await requireReferences(repository, references);
      await writeAtomically(revision(repository, digest), Buffer.concat([Buffer.from(`${mediaType}\n`), body]));
      if (!isDigest(reference)) await writeAtomically(tagFile(repository, reference), digest);
      return digest;
    },
    async remove(repository, reference) {
      const digest = await resolve(repository, reference);
      if (!isDigest(reference)) return rm(tagFile(repository, reference), { force: true });
      if (!(await load(repository, digest))) throw unknown(reference);
      for (const tag of await tags(repository)) {
        const target = await readIfPresent(tagFile(repository, tag));
        if (target?.toString() === digest) await rm(tagFile(repository, tag), { force: true });
      }
      await rm(revision(repository, digest), { force: true });
    },
    async references(repository) {
      const used = new Set<Digest>();
      for (const hex of await namesIn(revisions(repository))) {
        const manifest = await load(repository, `sha256:${hex}`);
        if (!manifest) continue;
        for (const digest of parseReferences(manifest.body, manifest.mediaType).blobs) used.add(digest);
      }
      return used;
    },
  };
};
