import type { BlobStore } from "./blob-store.js";
import type { ManifestStore } from "./manifest-store.js";
import type { Digest } from "./names.js";

export interface GarbageReport {
  unlinked: number;
  removedBlobs: number;
  removedBytes: number;
}

/**
 * Removes blobs that no manifest of a repository references, unless they were pushed, mounted or looked at within the
 * grace: between a client's look and its manifest lies time. A manifest goes only by its DELETE.
 */
export const collectGarbage = async (
  blobs: BlobStore,
  manifests: ManifestStore,
  graceMs: number,
): Promise<GarbageReport> => {
  const report: GarbageReport = { unlinked: 0, removedBlobs: 0, removedBytes: 0 };
  const stillLinked = new Set<Digest>();
  const youngest = Date.now() - graceMs;
  for (const repository of await manifests.allFolders()) {
    const used = await manifests.references(repository);
    for (const digest of await blobs.linked(repository)) {
      const keep = used.has(digest) || ((await blobs.lastUse(repository, digest)) ?? 0) > youngest;
      if (keep) stillLinked.add(digest);
      else {
        await blobs.unlink(repository, digest);
        report.unlinked += 1;
      }
    }
  }
  for (const digest of await blobs.all()) {
    if (stillLinked.has(digest)) continue;
    // Its own age counts too: it may have been pushed or mounted after its repository was looked through.
    const freed = await blobs.removeUnused(digest, youngest);
    if (freed === undefined) continue;
    report.removedBytes += freed;
    report.removedBlobs += 1;
  }
  return report;
};
