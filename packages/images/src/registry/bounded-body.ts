import type { Readable } from "node:stream";
import { RegistryLied } from "./errors.js";

/** Reads a body of at most `limit` bytes. @throws RegistryLied for a longer one */
export async function readBounded(body: Readable, limit: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      body.destroy();
      throw new RegistryLied(`${what} is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
