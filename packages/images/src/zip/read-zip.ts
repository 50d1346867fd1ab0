import type { CodeEntry } from "../code/entry.js";
import { CodeRejected, rejectEntry } from "../code/errors.js";
import type { CodeLimits } from "../code/limits.js";
import { arrangeTree, type CodeTree } from "../code/tree.js";
import { readDirectory } from "./directory.js";
import { parseEntryHead, type ZipEntryHead } from "./entry-head.js";
import { emitZipFile, readWhole } from "./file-content.js";
import { locateData, type LocatedEntry } from "./local-header.js";

/**
 * Reads a zip as hostile: every rule on names, kinds, sizes and layout holds for what is returned. Files' content is
 * only read, and its checksum only verified, when an entry's `emit` runs; the file must stay open until then.
 *
 * @param fd the open zip
 * @param size its size in bytes
 * @throws CodeRejected
 */
export async function readZip(fd: number, size: number, limits: CodeLimits): Promise<CodeTree> {
  const { entries, directoryOffset } = await readDirectory(fd, size, limits);
  const heads = entries.flatMap((entry) => parseEntryHead(entry, limits) ?? []);
  checkTotals(heads, limits);
  const ends = dataLimits(heads, directoryOffset);
  return arrangeTree(
    heads.map((head) => toCodeEntry(fd, head, ends.get(head) ?? directoryOffset)),
    limits.entries,
  );
}

/** Declared sizes first: what lies here is refused before a byte is inflated. Content that lies is caught at `emit`. */
function checkTotals(heads: readonly ZipEntryHead[], limits: CodeLimits): void {
  const unpacked = heads.reduce((sum, head) => sum + head.size, 0);
  const packed = heads.reduce((sum, head) => sum + head.compressedSize, 0);
  if (unpacked > limits.unpackedBytes)
    throw new CodeRejected(
      "TooLarge",
      `the code unpacks to ${unpacked} bytes; at most ${limits.unpackedBytes} are allowed`,
    );
  if (unpacked > limits.compressionFloorBytes && unpacked > packed * limits.compressionRatio)
    throw new CodeRejected(
      "CompressionRatio",
      `the code unpacks to more than ${limits.compressionRatio} times its size`,
    );
}

/**
 * Entries that share bytes make a small zip hold petabytes; libraries do not look. Each entry's data must end before
 * the next one's header.
 */
function dataLimits(heads: readonly ZipEntryHead[], directoryOffset: number): Map<ZipEntryHead, number> {
  const sorted = [...heads].sort((a, b) => a.headerOffset - b.headerOffset);
  const ends = new Map<ZipEntryHead, number>();
  sorted.forEach((head, index) => {
    const next = sorted[index + 1]?.headerOffset ?? directoryOffset;
    if (next === head.headerOffset || head.headerOffset + head.compressedSize > next)
      throw rejectEntry("Overlap", head.path, "shares bytes with another entry; make the zip again");
    ends.set(head, next);
  });
  return ends;
}

function toCodeEntry(fd: number, head: ZipEntryHead, end: number): CodeEntry {
  const { path, kind } = head;
  if (kind === "directory") return { kind, path };
  const locate = (): LocatedEntry => locateData(fd, head, end);
  if (kind === "symlink") return { kind, path, target: readTarget(fd, locate()) };
  const emit: Extract<CodeEntry, { kind: "file" }>["emit"] = (sink) => emitZipFile(fd, locate(), sink);
  return { kind, path, size: head.size, executable: head.executable, emit };
}

function readTarget(fd: number, located: LocatedEntry): string {
  const content = readWhole(fd, located);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw rejectEntry("BadSymlink", located.head.path, "is a symbolic link whose target is not UTF-8");
  }
}
