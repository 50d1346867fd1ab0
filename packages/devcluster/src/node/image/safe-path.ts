import { lstat, readlink } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

const MAX_LINKS = 40;

export class UnsafePathError extends Error {
  override readonly name = "UnsafePathError";
}

/**
 * Splits the name of an archive entry.
 * @throws UnsafePathError for absolute-by-trick, parent and NUL names; a leading `/` or `./` is harmless and goes
 */
export const splitEntryName = (name: string): string[] => {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..") || name.includes("\0")) {
    throw new UnsafePathError(`entry ${JSON.stringify(name.slice(0, 200))} leaves the image`);
  }
  return parts;
};

const readLink = async (path: string): Promise<string | undefined> => {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

/**
 * Where a path inside an image lies on disk when symbolic links on the way mean what they would mean in a container:
 * `/` is the root, and `..` never goes above it.
 * @throws UnsafePathError for a chain of more than 40 links
 */
export const resolveInRoot = async (root: string, parts: readonly string[]): Promise<string> => {
  const open = [...parts];
  const done: string[] = [];
  let links = 0;
  for (let part = open.shift(); part !== undefined; part = open.shift()) {
    if (part === "..") done.pop();
    if (part === ".." || part === "." || part === "") continue;
    const target = await readLink(join(root, ...done, part));
    if (target === undefined) {
      done.push(part);
      continue;
    }
    if (++links > MAX_LINKS) throw new UnsafePathError(`too many symbolic links at ${parts.join("/")}`);
    if (target.startsWith("/")) done.length = 0;
    open.unshift(...target.split("/"));
  }
  return join(root, ...done);
};

/**
 * The text of a symbolic link so that it means the same without a chroot: absolute targets become relative, and those
 * that climb above the root stop at it.
 */
export const containLink = (root: string, link: string, target: string): string => {
  const folder = dirname(link);
  const inside = target.startsWith("/") ? [] : relative(root, folder).split(sep);
  const reached: string[] = [];
  for (const part of [...inside, ...target.split("/")]) {
    if (part === "..") reached.pop();
    else if (part !== "." && part !== "") reached.push(part);
  }
  return relative(folder, join(root, ...reached)) || ".";
};
