import { fromRandomAccessReaderPromise, RandomAccessReader, type Entry } from "yauzl";
import { CodeRejected } from "../code/errors.js";
import type { CodeLimits } from "../code/limits.js";
import { readEndRecord } from "./end-record.js";
import { readExactly } from "./read-exactly.js";

export interface ZipDirectory {
  /** In the directory's order, names still raw bytes. */
  entries: Entry[];
  /** Where entries' data must end. */
  directoryOffset: number;
}

/** yauzl looks for the end record in this many last bytes: record, longest comment, zip64 locator. */
const END_SEARCH_BYTES = 22 + 0xffff + 20;

/**
 * Reads a zip's central directory with yauzl, out of one bounded read: its own way of one small read for each field
 * takes 0.6 s for 8,000 entries where this takes 30 ms.
 *
 * @throws CodeRejected when the directory is malformed or beyond the limits
 */
export async function readDirectory(fd: number, size: number, limits: CodeLimits): Promise<ZipDirectory> {
  const { entryCount, directoryOffset } = readEndRecord(fd, size, limits);
  const start = Math.min(directoryOffset, Math.max(0, size - END_SEARCH_BYTES));
  const reader = new RegionReader(readExactly(fd, start, size - start), start);
  const entries: Entry[] = [];
  try {
    const zip = await fromRandomAccessReaderPromise(reader, size, { decodeStrings: false, autoClose: false });
    if (zip.entryCount !== entryCount) throw new Error("its two end records contradict each other");
    for await (const entry of zip.eachEntry()) entries.push(entry);
  } catch (cause) {
    throw new CodeRejected(
      "Corrupt",
      `the zip's directory can't be read: ${reasonOf(cause)}; make and upload it again`,
    );
  }
  return { entries, directoryOffset };
}

/** Serves one region of a file from memory; whatever points outside of it is malformed. */
class RegionReader extends RandomAccessReader {
  constructor(
    private readonly region: Buffer,
    private readonly start: number,
  ) {
    super();
  }

  override read(...[buffer, offset, length, position, callback]: Parameters<RandomAccessReader["read"]>): void {
    const from = position - this.start;
    const inside = from >= 0 && from + length <= this.region.length;
    if (inside) this.region.copy(buffer, offset, from, from + length);
    process.nextTick(callback, inside ? null : new Error("it points outside of itself"));
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : "unknown reason";
}
