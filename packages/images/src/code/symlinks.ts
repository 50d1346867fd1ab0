import { rejectEntry } from "./errors.js";
import type { CodeEntry, CodeSymlink } from "./entry.js";

/** Linux gives up after this many links (ELOOP). */
const MOST_HOPS = 40;

/**
 * Checks that each link leads to something inside the code, following other links on the way as a kernel would: a
 * lexical check alone would pass `m -> l/../..` where `l` is itself a link to a deep folder.
 *
 * @param byPath every entry of the tree, parents included
 * @throws CodeRejected (BadSymlink) naming the link and what is wrong with it
 */
export function checkSymlinks(byPath: ReadonlyMap<string, CodeEntry>): void {
  for (const entry of byPath.values()) {
    if (entry.kind === "symlink") followLink(byPath, entry);
  }
}

function followLink(byPath: ReadonlyMap<string, CodeEntry>, link: CodeSymlink): void {
  const reject = (problem: string) => rejectEntry("BadSymlink", link.path, `is a symbolic link ${problem}`);
  let hops = 0;
  let at = parentOf(link.path);
  const pending = targetSegments(link);
  for (let segment = pending.shift(); segment !== undefined; segment = pending.shift()) {
    if (segment === "..") {
      if (at === undefined) throw reject("that leaves the code's folder; copy its target inside");
      at = parentOf(at);
      continue;
    }
    const path: string = at === undefined ? segment : `${at}/${segment}`;
    const entry = byPath.get(path);
    if (entry === undefined)
      throw reject(`to ${JSON.stringify(link.target)}, which is not in the code; remove it or add its target`);
    if (entry.kind === "symlink") {
      if (++hops > MOST_HOPS) throw reject("in a circle of links");
      pending.unshift(...targetSegments(entry));
    } else {
      if (entry.kind === "file" && pending.length > 0) throw reject("that treats a file as a folder");
      at = path;
    }
  }
}

function targetSegments(link: CodeSymlink): string[] {
  const target = link.target.normalize("NFC");
  if (target === "" || target.startsWith("/") || target.includes("\0") || target.includes("\\"))
    throw rejectEntry(
      "BadSymlink",
      link.path,
      "is a symbolic link whose target is empty, absolute or malformed; use a relative path with /",
    );
  return target.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** Undefined stands for the code's folder itself. */
function parentOf(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}
