import { closeSync, fstatSync, openSync, rmSync } from "node:fs";
import type { CodeWarning } from "../code/entry.js";
import type { CodeLimits } from "../code/limits.js";
import type { CodeTree } from "../code/tree.js";
import { readZip } from "../zip/read-zip.js";
import { createDigestSink } from "./digest-sink.js";
import { createGzipSink, type LayerDigests } from "./gzip-sink.js";
import { writeLayer } from "./write-layer.js";

/** What code consists of, for entrypoint checks and for finding dependency manifests. */
export interface CodeSummary {
  files: { path: string; size: number }[];
  /** Files, folders and links, implied folders included. */
  entries: number;
  /** Bytes of all files. */
  unpackedSize: number;
  warnings: CodeWarning[];
}

export interface CodeLayer extends LayerDigests, CodeSummary {}

/**
 * Makes the canonical code layer of a zip: `<out>` becomes a gzip of the layer's tar. Reads as hostile; memory stays
 * within a few MiB plus the zip's directory whatever the zip holds. Blocks its thread: call it through the layer pool.
 *
 * @param zip path of the zip
 * @param out path of the file to write; removed again when the zip is refused
 * @throws CodeRejected
 */
export function layerFromZip(zip: string, out: string, limits: CodeLimits): Promise<CodeLayer> {
  return withZip(zip, limits, async (tree) => {
    const fd = openSync(out, "w", 0o600);
    try {
      const sink = createGzipSink(fd);
      await writeLayer(tree.entries, sink);
      return { ...(await sink.finish()), ...summarize(tree) };
    } catch (error) {
      rmSync(out, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
  });
}

/** The identity of a zip's code, and what it consists of; checks all that `layerFromZip` checks and writes nothing. */
export function digestOfZip(zip: string, limits: CodeLimits): Promise<{ codeDigest: string } & CodeSummary> {
  return withZip(zip, limits, async (tree) => {
    const sink = createDigestSink();
    await writeLayer(tree.entries, sink);
    return { codeDigest: sink.codeDigest(), ...summarize(tree) };
  });
}

/** Reads only a zip's directory: names, kinds, declared sizes. Content is not verified. */
export function inspectZip(zip: string, limits: CodeLimits): Promise<CodeSummary> {
  return withZip(zip, limits, (tree) => Promise.resolve(summarize(tree)));
}

export function summarize(tree: CodeTree): CodeSummary {
  const files = tree.entries.flatMap((entry) =>
    entry.kind === "file" ? [{ path: entry.path, size: entry.size }] : [],
  );
  const unpackedSize = files.reduce((sum, file) => sum + file.size, 0);
  return { files, entries: tree.entries.length, unpackedSize, warnings: tree.warnings };
}

async function withZip<T>(zip: string, limits: CodeLimits, use: (tree: CodeTree) => Promise<T>): Promise<T> {
  const fd = openSync(zip, "r");
  try {
    return await use(await readZip(fd, fstatSync(fd).size, limits));
  } finally {
    closeSync(fd);
  }
}
