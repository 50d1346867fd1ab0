import { DeleteObjectsCommand, type S3Client } from "@aws-sdk/client-s3";
import { ArtifactStoreRefused } from "./errors.js";
import { toArtifactError } from "./failures.js";

export interface DeleteFailure {
  key: string;
  /** Why, for a condition or a log. */
  reason: string;
}

/** What became of each key: every key asked for is in exactly one of the two. */
export interface DeleteReport {
  deleted: string[];
  failed: DeleteFailure[];
}

export interface Deleter {
  client: S3Client;
  bucket: string;
  /** Deletes one object; resolves only when the store said so. */
  deleteOne(key: string): Promise<void>;
  signal(): AbortSignal;
}

/** S3's own bound for one bulk delete. */
const BATCH_KEYS = 1000;
const SINGLE_DELETES_AT_ONCE = 8;

/**
 * Deletes keys in batches, and one at a time whatever the batch left: a store may not know bulk deletes, demand an MD5
 * that the SDK no longer sends, or refuse single keys (D35). A key counts as deleted only when the store confirmed it.
 */
export async function deleteKeys(deleter: Deleter, keys: readonly string[]): Promise<DeleteReport> {
  const report: DeleteReport = { deleted: [], failed: [] };
  const unique = [...new Set(keys)];
  let batches = true;
  for (let start = 0; start < unique.length; start += BATCH_KEYS) {
    const batch = unique.slice(start, start + BATCH_KEYS);
    const confirmed: Set<string> | undefined = batches ? await deleteBatch(deleter, batch) : undefined;
    batches = confirmed !== undefined;
    const rest = batch.filter((key) => !confirmed?.has(key));
    report.deleted.push(...batch.filter((key) => confirmed?.has(key)));
    await deleteSingly(deleter, rest, report);
  }
  return report;
}

/** @returns the keys that the store confirmed, or undefined when it does not do bulk deletes */
async function deleteBatch(deleter: Deleter, keys: string[]): Promise<Set<string> | undefined> {
  if (keys.length === 1) return new Set();
  try {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: false };
    const command = new DeleteObjectsCommand({ Bucket: deleter.bucket, Delete });
    const answer = await deleter.client.send(command, { abortSignal: deleter.signal() });
    return new Set((answer.Deleted ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key])));
  } catch (cause) {
    const error = toArtifactError("delete", `${keys.length} objects`, cause);
    if (error instanceof ArtifactStoreRefused) return undefined;
    throw error;
  }
}

async function deleteSingly(deleter: Deleter, keys: string[], report: DeleteReport): Promise<void> {
  const queue = keys.values();
  const work = async () => {
    for (const key of queue) {
      try {
        await deleter.deleteOne(key);
        report.deleted.push(key);
      } catch (cause) {
        report.failed.push({ key, reason: toArtifactError("delete", key, cause).message });
      }
    }
  };
  await Promise.all(Array.from({ length: SINGLE_DELETES_AT_ONCE }, work));
}
