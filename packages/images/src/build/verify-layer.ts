import { createHash } from "node:crypto";
import { PassThrough, Transform, finished, pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ArtifactMismatch } from "./errors.js";

const CHUNK_BYTES = 256 << 10;
/** How far sending may run ahead of inflating: waiting for each chunk would cost a change of threads each time. */
const AHEAD_BYTES = 1 << 20;

/**
 * Passes a compressed layer on and inflates it beside that: the stream ends well only when the tar inside is the one
 * that the digest names. An object that was overwritten in the store fails before its last byte is out (security 3).
 *
 * @param codeDigest 64 hex digits
 * @param mostTarBytes bound on what may come out
 */
export function verifyLayer(source: Readable, codeDigest: string, mostTarBytes: number): Readable {
  const inlet = new PassThrough({ highWaterMark: AHEAD_BYTES });
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const hash = createHash("sha256");
  let compressedBytes = 0;
  let tarBytes = 0;
  const mismatch = (why: string, cause?: unknown) =>
    new ArtifactMismatch(`The stored code is not what was uploaded as ${codeDigest}: ${why}; upload it again`, {
      cause,
    });

  gunzip.on("data", (chunk: Buffer) => {
    tarBytes += chunk.length;
    hash.update(chunk);
    if (tarBytes > mostTarBytes) gunzip.destroy(new Error(`it unpacks to more than ${mostTarBytes} bytes`));
  });
  const check = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      compressedBytes += chunk.length;
      if (inlet.write(chunk)) return done(null, chunk);
      inlet.once("drain", () => done(null, chunk));
    },
    flush: (done) => {
      finished(gunzip, (error) => {
        if (error) return done(mismatch(error.message, error));
        if (hash.digest("hex") !== codeDigest) return done(mismatch("its digest differs"));
        // zlib stops quietly at the first byte behind the last gzip member; containerd would fail there.
        done(gunzip.bytesWritten === compressedBytes ? null : mismatch("bytes follow its end"));
      });
      inlet.end();
    },
    destroy: (error, done) => {
      inlet.destroy();
      gunzip.destroy();
      done(error);
    },
  });
  pipeline(inlet, gunzip, (error) => {
    if (error) check.destroy(mismatch(error.message, error));
  });
  return pipeline(source, check, () => undefined);
}
