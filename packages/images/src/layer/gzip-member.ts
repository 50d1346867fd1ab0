/** Head of a gzip member (RFC 1952 2.3): deflate, no name, no time, unknown system. */
export function gzipMemberHeader(): Buffer {
  return Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
}

/** Tail of a gzip member: checksum and size of what it decompresses to. */
export function gzipMemberTrailer(crc: number, size: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  return trailer;
}
