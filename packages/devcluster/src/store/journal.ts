import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { KubeObject } from "./types.js";

/** What one write did, as it stands in the file. */
export type JournalRecord =
  | { op: "start"; format: 1; version: number }
  | { op: "put"; version: number; typeKey: string; object: KubeObject }
  | { op: "remove"; version: number; typeKey: string; object: KubeObject };

const FILE_NAME = "state.jsonl";
const COMPACT_ABOVE_BYTES = 8 * 1024 * 1024;
const GARBAGE_RATIO = 4;

const encodeLine = (record: JournalRecord): Buffer => {
  const json = JSON.stringify(record);
  return Buffer.from(`${crc32(json).toString(16).padStart(8, "0")} ${json}\n`);
};

const decodeLine = (line: string): JournalRecord | undefined => {
  const json = line.slice(9);
  if (crc32(json).toString(16).padStart(8, "0") !== line.slice(0, 8)) return undefined;
  return JSON.parse(json) as JournalRecord;
};

/** Reads the records of a file and how many bytes of it are whole; only the last line may be torn. */
const readRecords = (content: Buffer, path: string): { records: JournalRecord[]; wholeBytes: number } => {
  const records: JournalRecord[] = [];
  let offset = 0;
  while (offset < content.length) {
    const end = content.indexOf(0x0a, offset);
    const record = end < 0 ? undefined : decodeLine(content.toString("utf8", offset, end));
    if (record === undefined) {
      if (end >= 0 && end < content.length - 1)
        throw new Error(
          `${path}: record ${records.length + 1} at byte ${offset} is damaged and others follow it. ` +
            "The cluster's state cannot be trusted: restore the file, or delete its folder to start empty.",
        );
      break;
    }
    records.push(record);
    offset = end + 1;
  }
  return { records, wholeBytes: offset };
};

const readIfPresent = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
};

/**
 * The state on disk: one file of checksummed lines, first a snapshot, then what was written since.
 * A record is with the kernel when {@link append} returns, so a killed process loses nothing; it is on the
 * disk some milliseconds later, so that a power failure may cost the last ones but never the file.
 */
export class Journal {
  readonly #path: string;
  #fd: number;
  #size: number;
  #syncing: Promise<void> | undefined;
  #dirty = false;

  private constructor(path: string, fd: number, size: number) {
    this.#path = path;
    this.#fd = fd;
    this.#size = size;
  }

  /** Opens the file of a folder (which must exist), cutting off a torn last record. */
  static open(directory: string): { journal: Journal; records: JournalRecord[] } {
    const path = join(directory, FILE_NAME);
    const { records, wholeBytes } = readRecords(readIfPresent(path), path);
    const fd = openSync(path, "a", 0o600);
    ftruncateSync(fd, wholeBytes);
    const journal = new Journal(path, fd, wholeBytes);
    if (wholeBytes === 0) journal.append({ op: "start", format: 1, version: 0 });
    return { journal, records };
  }

  /** @returns the record's size in bytes; throws, leaving the file as it was, when the disk refuses. */
  append(record: JournalRecord): number {
    const line = encodeLine(record);
    try {
      for (let written = 0; written < line.length;) written += writeSync(this.#fd, line, written);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
    this.#size += line.length;
    this.#scheduleSync();
    return line.length;
  }

  /** Whether most of the file is history that a fresh snapshot would leave out. */
  shouldCompact(liveBytes: number): boolean {
    return this.#size > COMPACT_ABOVE_BYTES && this.#size > GARBAGE_RATIO * liveBytes;
  }

  /** Puts a snapshot in the place of the file, by rename: at any moment one whole file is there. */
  compact(version: number, live: Iterable<JournalRecord>): void {
    const path = `${this.#path}.new`;
    const fd = openSync(path, "w", 0o600);
    let size = 0;
    for (const record of [{ op: "start", format: 1, version } as const, ...live]) {
      const line = encodeLine(record);
      for (let written = 0; written < line.length;) written += writeSync(fd, line, written);
      size += line.length;
    }
    fsyncSync(fd);
    renameSync(path, this.#path);
    closeSync(fd);
    const previous = this.#fd;
    this.#fd = openSync(this.#path, "a", 0o600);
    this.#size = size;
    this.#closeWhenSynced(previous);
    this.#scheduleSync();
  }

  #closeWhenSynced(fd: number): void {
    const done = () => closeSync(fd);
    if (this.#syncing) void this.#syncing.finally(done);
    else done();
  }

  #scheduleSync(): void {
    this.#dirty = true;
    this.#syncing ??= this.#syncLoop().finally(() => {
      this.#syncing = undefined;
    });
  }

  /** One sync at a time; what is written meanwhile shares the next one. */
  async #syncLoop(): Promise<void> {
    while (this.#dirty) {
      this.#dirty = false;
      await new Promise<void>((resolve, reject) => {
        fdatasync(this.#fd, (error) => (error ? reject(error) : resolve()));
      });
    }
  }

  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#fd);
  }
}
