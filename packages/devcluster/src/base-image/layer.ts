import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";

/** A folder whose content becomes the root of the image, or folders by where they lie in the image. */
export type ImageFiles = string | Readonly<Record<string, string>>;

export interface Layer {
  body: Buffer;
  digest: string;
  diffId: string;
}

interface SourceFile {
  name: string;
  path: string;
  executable: boolean;
}

export const sha256Digest = (body: Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;

const listFiles = async (folder: string, prefix: string): Promise<SourceFile[]> => {
  const found: SourceFile[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = posix.join(prefix, entry.name);
    const info = await stat(path);
    if (info.isDirectory()) found.push(...(await listFiles(path, name)));
    else if (info.isFile()) found.push({ name, path, executable: (info.mode & 0o100) !== 0 });
  }
  return found;
};

const parentsOf = (name: string): string[] => {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
};

/**
 * The same files give the same bytes: sorted, time 0, owner 0, modes 0755 and 0644. Links are followed.
 * Held in memory: meant for runtimes of a few megabytes.
 */
export const makeLayer = async (files: ImageFiles): Promise<Layer> => {
  const sources = Object.entries(typeof files === "string" ? { "/": files } : files);
  const lists = await Promise.all(sources.map(([prefix, folder]) => listFiles(folder, prefix.replace(/^\/+/, ""))));
  const all = lists.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
  const folders = [...new Set(all.flatMap(({ name }) => parentsOf(name)))].sort();

  const archive = pack();
  const fixed = { mtime: new Date(0), uid: 0, gid: 0 };
  for (const name of folders) archive.entry({ name: `${name}/`, type: "directory", mode: 0o755, ...fixed });
  for (const { name, path, executable } of all) {
    archive.entry({ name, mode: executable ? 0o755 : 0o644, ...fixed }, await readFile(path));
  }
  archive.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of archive as AsyncIterable<Uint8Array>) parts.push(part);
  const tar = Buffer.concat(parts);
  const body = await promisify(gzip)(tar, { level: 6 });
  return { body, digest: sha256Digest(body), diffId: sha256Digest(tar) };
};
