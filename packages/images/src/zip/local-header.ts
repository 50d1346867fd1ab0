import { rejectEntry } from "../code/errors.js";
import type { ZipEntryHead } from "./entry-head.js";
import { readUpTo } from "./read-exactly.js";

/** An entry whose data's place is known and lies within its own part of the file. */
export interface LocatedEntry {
  head: ZipEntryHead;
  dataOffset: number;
  /** The first bytes of the data, read along with the header; all of it for small files. */
  prefetched: Buffer;
}

const SIGNATURE = 0x04034b50;
const HEADER_BYTES = 30;
/** Extra fields of the usual tools (times, uid, zip64) fit; then one read gets header and data. */
const USUAL_EXTRA_BYTES = 64;
const PREFETCH_BYTES = 64 << 10;

/**
 * Reads an entry's local header (APPNOTE 4.3.7) and the start of its data.
 *
 * @param end where the entry's data must have ended
 * @throws CodeRejected when the header contradicts the directory: two readers would see two different files
 */
export function locateData(fd: number, head: ZipEntryHead, end: number): LocatedEntry {
  const want = HEADER_BYTES + head.rawName.length + USUAL_EXTRA_BYTES + Math.min(head.compressedSize, PREFETCH_BYTES);
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(want, end - head.headerOffset)));
  const got = buffer.subarray(0, readUpTo(fd, head.headerOffset, buffer));
  if (got.length < HEADER_BYTES || got.readUInt32LE(0) !== SIGNATURE)
    throw rejectEntry("Truncated", head.path, "has no header where the zip's directory says; make the zip again");
  const nameLength = got.readUInt16LE(26);
  const dataStart = HEADER_BYTES + nameLength + got.readUInt16LE(28);
  if (
    !got.subarray(HEADER_BYTES, HEADER_BYTES + nameLength).equals(head.rawName) ||
    (got.readUInt16LE(8) === 0) !== head.stored
  )
    throw rejectEntry("Corrupt", head.path, "differs between its own header and the zip's directory");
  const dataOffset = head.headerOffset + dataStart;
  if (dataOffset + head.compressedSize > end)
    throw rejectEntry("Overlap", head.path, "reaches into another entry; make the zip again");
  return { head, dataOffset, prefetched: got.subarray(dataStart, dataStart + head.compressedSize) };
}
