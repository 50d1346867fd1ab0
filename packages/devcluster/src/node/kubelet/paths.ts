import { existsSync } from "node:fs";
import { join } from "node:path";

/** A folder of the machine that stands for a path inside the container. */
export interface Mount {
  mountPath: string;
  folder: string;
}

/**
 * Finds where a path of the container lies on this machine, since processes run without a chroot: below the longest
 * mount that holds it, else in the unpacked image when it exists there, else it stays as it is.
 */
export type PathMapper = (path: string) => string;

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

export const createPathMapper = (rootfs: string, mounts: readonly Mount[]): PathMapper => {
  const byLength = mounts
    .map(({ mountPath, folder }) => ({ mountPath: mountPath.replace(/\/+$/, ""), folder }))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  return (path) => {
    // The root itself is no path that a program is given to find its files by; and `..` could leave the image.
    if (!path.startsWith("/") || path === "/" || path.split("/").includes("..")) return path;
    const mount = byLength.find(({ mountPath }) => isBelow(path, mountPath));
    if (mount) return mount.folder + path.slice(mount.mountPath.length);
    const inImage = join(rootfs, path);
    return existsSync(inImage) ? inImage : path;
  };
};

/** Maps a value that is a path, or a list of paths joined by colons as PYTHONPATH is. */
export const mapValue = (map: PathMapper, value: string): string => {
  const parts = value.split(":");
  return parts.every((part) => part === "" || part.startsWith("/")) ? parts.map(map).join(":") : value;
};

/** Maps an argument: a path, or an option `--name=/path`. */
export const mapArgument = (map: PathMapper, argument: string): string => {
  const option = /^(--?[\w-]+=)(\/.*)$/s.exec(argument);
  return option ? `${option[1]}${map(option[2] ?? "")}` : map(argument);
};
