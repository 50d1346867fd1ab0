import { CodeRejected, quoted, rejectEntry } from "./errors.js";
import type { CodeEntry, CodeWarning } from "./entry.js";
import { checkSymlinks } from "./symlinks.js";

/** Entries in the canonical order with every folder present, and what is odd about them. */
export interface CodeTree {
  entries: CodeEntry[];
  warnings: CodeWarning[];
}

const MOST_WARNINGS = 20;

/**
 * Makes a set of entries canonical: every parent folder exists, each path once, order by the bytes of the path (so that
 * parents precede children and no locale matters). The same files give the same tree wherever they came from.
 *
 * @param mostEntries bound on files and folders, implied folders included: deep paths make many of few entries
 * @throws CodeRejected for duplicates, a file used as a folder, links that leave the code, or no file at all
 */
export function arrangeTree(found: Iterable<CodeEntry>, mostEntries: number): CodeTree {
  const byPath = new Map<string, CodeEntry>();
  for (const entry of found) addEntry(byPath, entry);
  for (const path of [...byPath.keys()]) {
    addParents(byPath, path);
    if (byPath.size > mostEntries) throw tooMany(mostEntries);
  }
  if (![...byPath.values()].some((entry) => entry.kind === "file"))
    throw new CodeRejected("Empty", "there is no file in it; put the function's code at the top level");
  checkSymlinks(byPath);
  return { entries: sortByBytes([...byPath.values()]), warnings: caseCollisions(byPath.keys()) };
}

function tooMany(mostEntries: number): CodeRejected {
  return new CodeRejected(
    "TooManyEntries",
    `there are more than ${mostEntries} files and folders in it; leave out what the function does not need`,
  );
}

function addEntry(byPath: Map<string, CodeEntry>, entry: CodeEntry): void {
  const existing = byPath.get(entry.path);
  if (existing === undefined) {
    byPath.set(entry.path, entry);
    return;
  }
  if (existing.kind === "directory" && entry.kind === "directory") return;
  const fault = existing.kind === "directory" || entry.kind === "directory" ? "PathConflict" : "DuplicateName";
  const problem = fault === "PathConflict" ? "is both a file and a folder" : "is there twice";
  throw rejectEntry(fault, entry.path, `${problem} (names that differ only in Unicode form count as the same)`);
}

function addParents(byPath: Map<string, CodeEntry>, path: string): void {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const parent = path.slice(0, end);
    const existing = byPath.get(parent);
    if (existing?.kind === "directory") return;
    if (existing !== undefined)
      throw rejectEntry(
        "PathConflict",
        path,
        `lies below ${quoted(parent)}, which is a ${existing.kind}, not a folder`,
      );
    byPath.set(parent, { kind: "directory", path: parent });
  }
}

function sortByBytes(entries: CodeEntry[]): CodeEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: Buffer.from(entry.path) }));
  return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry);
}

/** Legal on Linux, but one of the two vanishes when the code is unpacked on macOS or Windows. */
function caseCollisions(paths: Iterable<string>): CodeWarning[] {
  const seen = new Map<string, string>();
  const warnings: CodeWarning[] = [];
  for (const path of paths) {
    const folded = path.toLowerCase();
    const other = seen.get(folded);
    if (other !== undefined && warnings.length < MOST_WARNINGS) {
      const message = `${quoted(other)} and ${quoted(path)} differ only in case; macOS and Windows keep one of them`;
      warnings.push({ code: "CaseCollision", message });
    }
    seen.set(folded, path);
  }
  return warnings;
}
