import { readSync } from "node:fs";
import { CodeRejected } from "../code/errors.js";

/**
 * Reads bytes of an open file.
 *
 * @throws CodeRejected (Truncated) when the file ends before
 */
export function readExactly(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  const got = readUpTo(fd, position, buffer);
  if (got < length)
    throw new CodeRejected("Truncated", "the zip ends in the middle of an entry; make and upload it again");
  return buffer;
}

/** Fills a buffer from an open file, as far as the file goes. @returns the bytes read */
export function readUpTo(fd: number, position: number, buffer: Buffer): number {
  let filled = 0;
  while (filled < buffer.length) {
    const got = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (got === 0) break;
    filled += got;
  }
  return filled;
}
