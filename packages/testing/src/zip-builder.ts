import { crc32, deflateRawSync } from "node:zlib";

/** One entry of a zip under test; every field may lie. */
export interface ZipPart {
  /** Bytes when the name is not UTF-8. A trailing slash makes a folder. */
  name: string | Buffer;
  content?: string | Buffer;
  /** Unix mode with its type bits. Default 0o100644, or 0o040755 for a folder. */
  mode?: number;
  method?: "store" | "deflate" | number;
  /** General purpose flags: 1 is encrypted, 0x800 is UTF-8. */
  flags?: number;
  /** As the directory states it. Default: true. */
  declaredSize?: number;
  crc?: number;
  /** Compressed bytes as they are. */
  raw?: Buffer;
  /** Of the local header, where it differs from the directory's. */
  localName?: string;
  /** Reuses the data of the entry at this index instead of having its own. */
  sameDataAs?: number;
  /** System in "version made by": 3 is Unix, 0 is FAT. */
  system?: number;
}

/** Builds a zip byte by byte, good or bad, without any library in the way. */
export function buildZip(parts: readonly ZipPart[]): Buffer {
  const chunks: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const part of parts) {
    const shared = part.sameDataAs === undefined ? undefined : offsets[part.sameDataAs];
    offsets.push(shared ?? offset);
    if (shared !== undefined) continue;
    const { local } = encodePart(part, offset);
    chunks.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(parts.map((part, index) => encodePart(part, offsets[index] ?? 0).central));
  return Buffer.concat([...chunks, directory, encodeEnd(parts.length, directory.length, offset)]);
}

function encodePart(part: ZipPart, offset: number): { local: Buffer; central: Buffer } {
  const name = Buffer.from(part.name as string);
  const folder = name.at(-1) === 0x2f;
  const { common, raw } = encodeCommon(part, folder ? "store" : "deflate");
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((part.mode ?? (folder ? 0o040755 : 0o100644)) << 16) >>> 0, 6);
  tail.writeUInt32LE(offset, 10);
  const localName = Buffer.from(part.localName ?? name);
  return {
    local: Buffer.concat([Buffer.from("PK\x03\x04"), withNameLength(common, localName), localName, raw]),
    central: Buffer.concat([
      Buffer.from("PK\x01\x02"),
      Buffer.from([20, part.system ?? 3]),
      withNameLength(common, name),
      tail,
      name,
    ]),
  };
}

/** The 26 bytes that local header and directory share, but for the name's length. */
function encodeCommon(part: ZipPart, defaultMethod: "store" | "deflate"): { common: Buffer; raw: Buffer } {
  const content = Buffer.from((part.content as string | undefined) ?? "");
  const method = methodNumber(part.method ?? defaultMethod);
  const raw = part.raw ?? (method === 8 ? deflateRawSync(content) : content);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(part.flags ?? 0x800, 2);
  common.writeUInt16LE(method, 4);
  common.writeUInt32LE(0x21, 8);
  common.writeUInt32LE(part.crc ?? crc32(content), 10);
  common.writeUInt32LE(raw.length, 14);
  common.writeUInt32LE(part.declaredSize ?? content.length, 18);
  return { common, raw };
}

function withNameLength(common: Buffer, name: Buffer): Buffer {
  const copy = Buffer.from(common);
  copy.writeUInt16LE(name.length, 22);
  return copy;
}

function methodNumber(method: NonNullable<ZipPart["method"]>): number {
  if (typeof method === "number") return method;
  return method === "store" ? 0 : 8;
}

/** Counts wrap at 65,536, as in a zip that should have been zip64. */
function encodeEnd(count: number, directoryBytes: number, directoryOffset: number): Buffer {
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryOffset, 16);
  return end;
}
