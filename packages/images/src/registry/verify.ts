import { createHash } from "node:crypto";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream";
import { RegistryLied } from "./errors.js";

export function sha256Digest(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Passes a blob on and fails at its end when the bytes are not those of the digest, or at once when there are too many. */
export function verifyBlob(source: Readable, digest: string, mostBytes: number): Readable {
  const hash = createHash("sha256");
  let size = 0;
  const check = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      size += chunk.length;
      hash.update(chunk);
      done(size > mostBytes ? new RegistryLied(`Blob ${digest} is larger than ${mostBytes} bytes`) : null, chunk);
    },
    flush: (done) => {
      const got = `sha256:${hash.digest("hex")}`;
      done(got === digest ? null : new RegistryLied(`The registry sent ${got} when asked for blob ${digest}`));
    },
  });
  // pipeline hands the source's errors to `check`; whoever reads that one sees them.
  return pipeline(source, check, () => undefined);
}
