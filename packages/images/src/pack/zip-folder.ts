import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { ZipArchive } from "archiver";
import type { CodeEntry } from "../code/entry.js";
import { DEFAULT_CODE_LIMITS, type CodeLimits } from "../code/limits.js";
import { summarize, type CodeSummary } from "../layer/layer-from-zip.js";
import { packFolder, type PackedFolder } from "./pack-folder.js";

/** The first moment that a zip can state: file times from before 1980 or after 2107 do not fit (D03). */
const ZIP_EPOCH = new Date("1980-01-01T00:00:00Z");

/**
 * Packs a folder into a zip file for upload, as `packFolder` decides.
 *
 * @param out path of the zip to write; removed again on failure
 * @returns the zip's size in bytes and what is in it
 * @throws CodeRejected; the file system's own errors
 */
export async function zipFolder(
  folder: string,
  out: string,
  limits: CodeLimits = DEFAULT_CODE_LIMITS,
): Promise<{ size: number } & CodeSummary> {
  const packed = await packFolder(folder, limits);
  const archive = new ZipArchive({ forceLocalTime: false, zlib: { level: 6 } });
  // A file that vanished is only a warning to archiver, which would go on without it.
  archive.on("warning", (problem) => archive.destroy(problem));
  try {
    const written = pipeline(archive, createWriteStream(out, { mode: 0o600 }));
    for (const entry of packed.entries) append(archive, entry, packed);
    await Promise.all([archive.finalize(), written]);
    return { size: (await stat(out)).size, ...summarize(packed) };
  } catch (error) {
    await rm(out, { force: true });
    throw error;
  }
}

function append(archive: ZipArchive, entry: CodeEntry, { sources }: PackedFolder): void {
  const source = sources.get(entry.path);
  if (entry.kind === "symlink") archive.symlink(entry.path, entry.target, 0o777);
  else if (entry.kind === "directory") archive.append("", { name: `${entry.path}/`, mode: 0o755, date: ZIP_EPOCH });
  else if (source !== undefined)
    archive.file(source, { name: entry.path, mode: entry.executable ? 0o755 : 0o644, date: ZIP_EPOCH });
}
