import { createHash } from "node:crypto";
import type { TarSink } from "./tar-sink.js";

/** A sink that only computes the identity of code. */
export interface DigestSink extends TarSink {
  /** 64 hex digits: sha256 of the uncompressed tar. Call once, at the end. */
  codeDigest(): string;
}

export function createDigestSink(): DigestSink {
  const hash = createHash("sha256");
  const update = (chunk: Buffer): void => void hash.update(chunk);
  return { content: update, inflated: update, compressed: () => undefined, codeDigest: () => hash.digest("hex") };
}
