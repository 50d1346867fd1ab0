import { open } from "node:fs/promises";
import type { CodeFile } from "../code/entry.js";
import { rejectEntry } from "../code/errors.js";

const CHUNK_BYTES = 256 << 10;

/** Reads a file of the user's own folder, which may change under our hands. */
export function emitFolderFile(source: string, path: string, size: number): CodeFile["emit"] {
  return async (sink) => {
    const file = await open(source);
    try {
      for (let at = 0; at < size;) {
        const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) throw rejectEntry("Changed", path, "became shorter while it was read; try again");
        await sink.content(chunk.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  };
}
