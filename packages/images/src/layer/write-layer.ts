import type { CodeEntry } from "../code/entry.js";
import { CODE_ROOT, TAR_END, encodeTarHead, tarPadding, type TarEntryHead } from "./tar-header.js";
import type { TarSink } from "./tar-sink.js";

/**
 * Writes the canonical code layer: a tar of the entries, in their order, below the code root. This is the one place
 * that decides which bytes the digest of code is made of.
 *
 * @param entries as `arrangeTree` returns them
 */
export async function writeLayer(entries: readonly CodeEntry[], sink: TarSink): Promise<void> {
  await sink.content(encodeTarHead({ path: `${CODE_ROOT}/`, type: "directory", mode: 0o755, size: 0 }));
  for (const entry of entries) {
    await sink.content(encodeTarHead(headOf(entry)));
    if (entry.kind !== "file" || entry.size === 0) continue;
    await entry.emit(sink);
    await sink.content(tarPadding(entry.size));
  }
  await sink.content(TAR_END);
}

/** Modes are 0755 or 0644: the function runs as another user than the one who packed, and never needs setuid. */
function headOf(entry: CodeEntry): TarEntryHead {
  const path = `${CODE_ROOT}/${entry.path}`;
  switch (entry.kind) {
    case "directory":
      return { path: `${path}/`, type: "directory", mode: 0o755, size: 0 };
    case "symlink":
      return { path, type: "symlink", mode: 0o777, size: 0, linkTarget: entry.target };
    case "file":
      return { path, type: "file", mode: entry.executable ? 0o755 : 0o644, size: entry.size };
  }
}
