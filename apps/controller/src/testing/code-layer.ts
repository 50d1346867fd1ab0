import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const BLOCK = 512;

const field = (header: Buffer, text: string, at: number): void => {
  header.write(text, at, "latin1");
};

const makeEntry = (path: string, content: Buffer): Buffer => {
  const header = Buffer.alloc(BLOCK);
  field(header, path, 0);
  field(header, "0000644\0" + "0000000\0".repeat(2), 100);
  field(header, `${content.length.toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0${" ".repeat(8)}0`, 124);
  field(header, "ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  field(header, `${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
};

/** A code layer as an upload stores it: its digest, and its bytes compressed. */
export const makeCodeLayer = (files: Readonly<Record<string, string>>): { digest: string; bytes: Buffer } => {
  const entries = Object.entries(files).map(([path, text]) => makeEntry(`function/${path}`, Buffer.from(text)));
  const tar = Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]);
  return { digest: createHash("sha256").update(tar).digest("hex"), bytes: gzipSync(tar) };
};
