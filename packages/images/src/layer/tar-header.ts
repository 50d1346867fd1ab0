/** Where the runtime looks for code; every entry of a code layer lies below it (in an image: `/function`). */
export const CODE_ROOT = "function";

export const TAR_BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
/** Space for a size in a ustar header: 11 octal digits. */
const LARGEST_SIZE = 0o77777777777;

export interface TarEntryHead {
  /** Path in the archive; folders end with `/`. */
  path: string;
  type: "file" | "directory" | "symlink";
  mode: number;
  size: number;
  linkTarget?: string;
}

const TYPE_FLAGS = { file: "0", symlink: "2", directory: "5" } as const;

/**
 * Encodes a head as ustar, after a PAX record where ustar has no room for a name or only ASCII is portable. Time, owner
 * and group are always 0 and their names empty: nothing about the machine that packs may reach the digest.
 */
export function encodeTarHead(head: TarEntryHead): Buffer {
  const pax: string[] = [];
  const name = splitName(head.path);
  if (name === undefined) pax.push(paxRecord("path", head.path));
  const target = head.linkTarget ?? "";
  const targetFits = isAscii(target) && target.length <= NAME_BYTES;
  if (!targetFits) pax.push(paxRecord("linkpath", target));
  const fields = {
    ...(name ?? { name: asciiStandIn(head.path), prefix: "" }),
    typeFlag: TYPE_FLAGS[head.type],
    mode: head.mode,
    size: head.size,
    linkTarget: targetFits ? target : asciiStandIn(target),
  };
  return Buffer.concat([...paxBlocks(pax), encodeUstar(fields)]);
}

/** Zeros that fill the last block of a file's content. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** Two empty blocks end an archive. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

interface UstarFields {
  name: string;
  prefix: string;
  typeFlag: string;
  mode: number;
  size: number;
  linkTarget: string;
}

function paxBlocks(records: string[]): Buffer[] {
  if (records.length === 0) return [];
  const body = Buffer.from(records.join(""));
  const fields = { name: "././@PaxHeader", prefix: "", typeFlag: "x", mode: 0o644, size: body.length, linkTarget: "" };
  return [encodeUstar(fields), body, tarPadding(body.length)];
}

function encodeUstar(fields: UstarFields): Buffer {
  if (fields.size > LARGEST_SIZE) throw new RangeError(`a tar entry holds at most 8 GiB, got ${fields.size} bytes`);
  const block = Buffer.alloc(TAR_BLOCK);
  block.write(fields.name, 0, NAME_BYTES, "latin1");
  block.write(octal(fields.mode, 7), 100, "latin1");
  block.write(octal(0, 7), 108, "latin1");
  block.write(octal(0, 7), 116, "latin1");
  block.write(octal(fields.size, 11), 124, "latin1");
  block.write(octal(0, 11), 136, "latin1");
  block.write("        ", 148, "latin1");
  block.write(fields.typeFlag, 156, "latin1");
  block.write(fields.linkTarget, 157, NAME_BYTES, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  block.write(octal(0, 7), 329, "latin1");
  block.write(octal(0, 7), 337, "latin1");
  block.write(fields.prefix, 345, PREFIX_BYTES, "latin1");
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return block;
}

/** Undefined when ustar can't hold the name. */
function splitName(path: string): { name: string; prefix: string } | undefined {
  if (!isAscii(path)) return undefined;
  if (path.length <= NAME_BYTES) return { name: path, prefix: "" };
  const cut = path.lastIndexOf("/", PREFIX_BYTES);
  const name = path.slice(cut + 1);
  return cut > 0 && name.length > 0 && name.length <= NAME_BYTES ? { name, prefix: path.slice(0, cut) } : undefined;
}

/** The record's length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  let length = restBytes + 1;
  while (length !== restBytes + String(length).length) length = restBytes + String(length).length;
  return `${length}${rest}`;
}

function asciiStandIn(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "_").slice(0, NAME_BYTES);
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
