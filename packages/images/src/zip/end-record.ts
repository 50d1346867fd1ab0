import { CodeRejected } from "../code/errors.js";
import type { CodeLimits } from "../code/limits.js";
import { readExactly } from "./read-exactly.js";

/** Where a zip's directory is and how much it claims to hold (APPNOTE 4.3.16). */
export interface EndRecord {
  entryCount: number;
  directoryOffset: number;
}

const SIGNATURE = 0x06054b50;
const RECORD_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
/** 20,000 entries of ordinary names take 4 MiB. */
const MOST_DIRECTORY_BYTES = 16 << 20;

/**
 * Reads the end-of-central-directory record and bounds what it claims, before any library allocates for it.
 *
 * @param fd the open zip
 * @param size its size in bytes
 * @throws CodeRejected
 */
export function readEndRecord(fd: number, size: number, limits: CodeLimits): EndRecord {
  if (size === 0) throw new CodeRejected("Empty", "the zip has no bytes; upload a zip of the function's code");
  if (size > limits.uploadBytes)
    throw new CodeRejected("TooLarge", `the zip has ${size} bytes; at most ${limits.uploadBytes} are allowed`);
  const tail = readExactly(
    fd,
    Math.max(0, size - RECORD_BYTES - LONGEST_COMMENT),
    Math.min(size, RECORD_BYTES + LONGEST_COMMENT),
  );
  const at = findRecord(tail);
  if (at === undefined) throw missingRecord(fd, size);
  const record = {
    entryCount: tail.readUInt16LE(at + 10),
    directoryOffset: tail.readUInt32LE(at + 16),
  };
  checkClaims(record, tail.readUInt32LE(at + 12), size - tail.length + at, limits);
  return record;
}

function findRecord(tail: Buffer): number | undefined {
  for (let at = tail.length - RECORD_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) === SIGNATURE && tail.readUInt16LE(at + 20) === tail.length - at - RECORD_BYTES)
      return at;
  }
  return undefined;
}

function missingRecord(fd: number, size: number): CodeRejected {
  const startsLikeZip = size >= 4 && readExactly(fd, 0, 4).toString("latin1").startsWith("PK");
  return startsLikeZip
    ? new CodeRejected(
        "Truncated",
        "the zip has no end record: it is cut off or has bytes after its end; make and upload it again",
      )
    : new CodeRejected("NotAZip", "this is not a zip file; upload a .zip of the function's code");
}

function checkClaims(record: EndRecord, directoryBytes: number, recordOffset: number, limits: CodeLimits): void {
  if (record.entryCount > limits.entries)
    throw new CodeRejected(
      "TooManyEntries",
      `the zip holds ${record.entryCount === 0xffff ? "65,535 or more" : record.entryCount} entries; at most ${limits.entries} are allowed`,
    );
  if (record.entryCount === 0) throw new CodeRejected("Empty", "the zip holds no files; add the function's code");
  if (record.directoryOffset === 0xffffffff || directoryBytes === 0xffffffff)
    throw new CodeRejected(
      "Unsupported",
      "the zip is in zip64 form, which code of an allowed size never needs; zip it without it",
    );
  if (record.directoryOffset + directoryBytes > recordOffset)
    throw new CodeRejected(
      "Truncated",
      "the zip's directory lies outside the file: it is cut off; make and upload it again",
    );
  if (directoryBytes > MOST_DIRECTORY_BYTES)
    throw new CodeRejected(
      "TooLarge",
      `the zip's directory has ${directoryBytes} bytes; at most ${MOST_DIRECTORY_BYTES} are allowed`,
    );
}
