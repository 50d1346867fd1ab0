import { getFileNameLowLevel, type Entry } from "yauzl";
import { quoted, rejectEntry } from "../code/errors.js";
import type { CodeLimits } from "../code/limits.js";
import { parseEntryPath } from "../code/names.js";

/** What the directory says of an entry, checked; content is not read yet. */
export interface ZipEntryHead {
  kind: "file" | "directory" | "symlink";
  path: string;
  executable: boolean;
  stored: boolean;
  crc: number;
  compressedSize: number;
  size: number;
  headerOffset: number;
  rawName: Buffer;
}

const FLAG_ENCRYPTED = 0x0001;
const FLAG_STRONG_ENCRYPTION = 0x0040;
const FLAG_MASKED_DIRECTORY = 0x2000;
const ENCRYPTION = FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION | FLAG_MASKED_DIRECTORY;
const METHOD_STORED = 0;
const METHOD_DEFLATE = 8;
/** Systems whose upper 16 bits of the external attributes are a Unix mode: Unix, macOS. */
const UNIX_SYSTEMS = new Set([3, 19]);
const MODE_TYPE = 0o170000;
const KINDS = new Map<number, ZipEntryHead["kind"]>([
  [0o100000, "file"],
  [0o040000, "directory"],
  [0o120000, "symlink"],
]);
const EXECUTABLE = 0o100;
const LONGEST_SYMLINK = 1024;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Checks one entry of the directory.
 *
 * @returns undefined for the code's folder itself (`./`)
 * @throws CodeRejected naming the entry
 */
export function parseEntryHead(entry: Entry, limits: CodeLimits): ZipEntryHead | undefined {
  const name = decodeName(entry.fileNameRaw);
  const path = parseEntryPath(name, limits.pathBytes);
  if (path === "") return undefined;
  checkEncoding(entry, path);
  const mode = UNIX_SYSTEMS.has(entry.versionMadeBy >> 8) ? entry.externalFileAttributes >>> 16 : 0;
  const head: ZipEntryHead = {
    kind: kindOf(mode, name, path),
    path,
    executable: (mode & EXECUTABLE) !== 0,
    stored: entry.compressionMethod === METHOD_STORED,
    crc: entry.crc32,
    compressedSize: entry.compressedSize,
    size: entry.uncompressedSize,
    headerOffset: entry.relativeOffsetOfLocalHeader,
    rawName: entry.fileNameRaw,
  };
  checkSizes(head, limits);
  return head;
}

/** Tools set the UTF-8 flag wrongly in both directions: bytes that are UTF-8 are read so, all others as CP437. */
function decodeName(raw: Buffer): string {
  try {
    return strictUtf8.decode(raw);
  } catch {
    return getFileNameLowLevel(0, raw, [], true);
  }
}

function checkEncoding(entry: Entry, path: string): void {
  if (entry.generalPurposeBitFlag & ENCRYPTION)
    throw rejectEntry("Encrypted", path, "is encrypted; zip the code without a password");
  if (entry.compressionMethod !== METHOD_STORED && entry.compressionMethod !== METHOD_DEFLATE)
    throw rejectEntry(
      "Unsupported",
      path,
      `is compressed by method ${entry.compressionMethod}; use deflate, which every zip tool has by default`,
    );
}

function kindOf(mode: number, name: string, path: string): ZipEntryHead["kind"] {
  const type = mode & MODE_TYPE;
  const named = name.endsWith("/") ? "directory" : "file";
  if (type === 0) return named;
  const kind = KINDS.get(type);
  if (kind === undefined) throw rejectEntry("SpecialFile", path, "is a device, pipe or socket; leave it out");
  if (named === "directory" && kind !== "directory")
    throw rejectEntry("PathConflict", path, `is a ${kind} by its mode and a folder by its name ${quoted(name)}`);
  return kind;
}

function checkSizes(head: ZipEntryHead, limits: CodeLimits): void {
  const { path, size, compressedSize } = head;
  if (head.kind === "directory" && size > 0) throw rejectEntry("Corrupt", path, "is a folder with content");
  if (head.kind === "symlink" && size > LONGEST_SYMLINK)
    throw rejectEntry("BadSymlink", path, "is a symbolic link with a target too long");
  if (head.stored && size !== compressedSize) throw rejectEntry("Corrupt", path, "is stored with two sizes");
  if (size > limits.fileBytes)
    throw rejectEntry("TooLarge", path, `has ${size} bytes; at most ${limits.fileBytes} are allowed in one file`);
  if (size > limits.compressionFloorBytes && size > compressedSize * limits.compressionRatio)
    throw rejectEntry("CompressionRatio", path, `unpacks to more than ${limits.compressionRatio} times its size`);
}
