import type { Stats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { CodeEntry, CodeWarning } from "../code/entry.js";
import { CodeRejected, quoted, rejectEntry } from "../code/errors.js";
import { DEFAULT_CODE_LIMITS, type CodeLimits } from "../code/limits.js";
import { parseEntryPath } from "../code/names.js";
import { arrangeTree, type CodeTree } from "../code/tree.js";
import { emitFolderFile } from "./file-content.js";
import { readIgnoreRules, type IgnoreRules } from "./ignore-rules.js";

/** A file's or link's place on disk beside what it becomes in the code. */
export interface PackedFolder extends CodeTree {
  /** Where the content of each file lies, by its path in the code. */
  sources: ReadonlyMap<string, string>;
}

/**
 * Decides what of a folder is the function's code: everything but by-products, secrets (each with a warning) and what
 * `.slessignore` names. The command line and the Terraform provider both pack with this, so they agree on the digest.
 *
 * Links inside the folder stay links; one that leads out of it or nowhere is refused (D04).
 *
 * @throws CodeRejected; the file system's own errors
 */
export async function packFolder(folder: string, limits: CodeLimits = DEFAULT_CODE_LIMITS): Promise<PackedFolder> {
  const walk: Walk = {
    folder,
    limits,
    rules: await readIgnoreRules(folder),
    entries: [],
    warnings: [],
    sources: new Map(),
    bytes: 0,
  };
  await walkFolder(walk, "");
  const tree = arrangeTree(walk.entries, limits.entries);
  return { entries: tree.entries, warnings: [...walk.warnings, ...tree.warnings], sources: walk.sources };
}

interface Walk {
  folder: string;
  limits: CodeLimits;
  rules: IgnoreRules;
  entries: CodeEntry[];
  warnings: CodeWarning[];
  sources: Map<string, string>;
  bytes: number;
}

/** @param below path of the folder, empty or ending with `/` */
async function walkFolder(walk: Walk, below: string): Promise<void> {
  const names = await readdir(join(walk.folder, below));
  const found = await Promise.all(
    names.sort().map(async (name) => ({ relative: below + name, stats: await lstat(join(walk.folder, below, name)) })),
  );
  for (const { relative, stats } of found) await visit(walk, relative, stats);
}

async function visit(walk: Walk, relative: string, stats: Stats): Promise<void> {
  if (!(await isWanted(walk, relative, stats))) return;
  const path = parseEntryPath(relative, walk.limits.pathBytes);
  if (walk.entries.length >= walk.limits.entries)
    throw new CodeRejected(
      "TooManyEntries",
      `${quoted(walk.folder)} holds more than ${walk.limits.entries} files and folders; name what is not needed in .slessignore`,
    );
  if (stats.isDirectory()) {
    walk.entries.push({ kind: "directory", path });
    await walkFolder(walk, `${relative}/`);
  } else if (stats.isSymbolicLink()) {
    walk.entries.push({ kind: "symlink", path, target: await readlink(join(walk.folder, relative)) });
  } else if (stats.isFile()) {
    addFile(walk, relative, path, stats);
  } else {
    throw rejectEntry("SpecialFile", relative, "is a device, pipe or socket; remove it or name it in .slessignore");
  }
}

function addFile(walk: Walk, relative: string, path: string, { size, mode }: Stats): void {
  const { limits } = walk;
  walk.bytes += size;
  if (size > limits.fileBytes)
    throw rejectEntry("TooLarge", path, `has ${size} bytes; at most ${limits.fileBytes} are allowed in one file`);
  if (walk.bytes > limits.unpackedBytes)
    throw new CodeRejected(
      "TooLarge",
      `the code has more than ${limits.unpackedBytes} bytes; name what is not needed in .slessignore`,
    );
  const source = join(walk.folder, relative);
  walk.sources.set(path, source);
  const emit = emitFolderFile(source, path, size);
  walk.entries.push({ kind: "file", path, size, executable: (mode & 0o100) !== 0, emit });
}

async function isWanted({ folder, rules, warnings }: Walk, relative: string, stats: Stats): Promise<boolean> {
  const verdict = rules(stats.isDirectory() ? `${relative}/` : relative);
  const isKey = verdict === "maybe-key" && stats.isFile() && (await holdsPrivateKey(join(folder, relative)));
  if (verdict === "secret" || isKey) {
    const what = isKey ? "it is a private key" : "such files often hold secrets";
    const message = `${quoted(relative)} was left out: ${what}. To pack it anyway, add ${quoted(`!/${relative}`)} to .slessignore`;
    warnings.push({ code: "SecretSkipped", message });
  }
  return verdict === "keep" || (verdict === "maybe-key" && !isKey);
}

const KEY_SEARCH_BYTES = 64 << 10;

async function holdsPrivateKey(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(KEY_SEARCH_BYTES), 0, KEY_SEARCH_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead).includes("PRIVATE KEY-----");
  } finally {
    await file.close();
  }
}
