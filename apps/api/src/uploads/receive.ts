import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { InvalidCode, TooLarge, Unavailable } from "../errors.js";
import { errorCode } from "../platform/error-code.js";
import { ClientGone } from "../http/lifetime.js";

/** A zip that was received whole, in a folder of its own that only this process reads. */
export interface ReceivedZip {
  readonly path: string;
  /** Where the layer may be written. */
  readonly layerPath: string;
  readonly bytes: number;
  /** sha256 of the zip, hex. */
  readonly hash: string;
}

const NO_ROOM = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Counts and hashes what passes; fails beyond the limit. */
const createMeter = (maxBytes: number) => {
  const hash = createHash("sha256");
  let bytes = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(tooLarge(maxBytes));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { meter, result: () => ({ bytes, hash: hash.digest("hex") }) };
};

const tooLarge = (maxBytes: number): TooLarge =>
  new TooLarge(`The zip is larger than ${maxBytes} bytes. Leave out what the function does not need.`);

const explain = (error: unknown, body: IncomingMessage): unknown => {
  if (error instanceof TooLarge) return error;
  if (NO_ROOM.has(errorCode(error)))
    return new Unavailable("There is no room for uploads now. Try again later.", 30, { cause: error });
  return body.complete ? error : new ClientGone("the upload ended early");
};

const receive = async (body: IncomingMessage, folder: string, maxBytes: number): Promise<ReceivedZip> => {
  const path = join(folder, "code.zip");
  const { meter, result } = createMeter(maxBytes);
  try {
    // The request itself stays open: a refusal still has to be answered on its connection.
    await pipeline(
      body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>,
      meter,
      createWriteStream(path, { flags: "wx", mode: 0o600 }),
    );
  } catch (error) {
    throw explain(error, body);
  }
  const received = result();
  if (received.bytes === 0) throw new InvalidCode("The body is empty; send a zip as Content-Type: application/zip.");
  return { path, layerPath: join(folder, "layer.tar.gz"), ...received };
};

/**
 * Receives a zip into a temporary folder for as long as `use` needs it; the folder goes on every path.
 * The length is refused before a byte is read when the header already says too much.
 * @throws TooLarge, InvalidCode, Unavailable (disk full), ClientGone
 */
export const withReceivedZip = async <R>(
  body: IncomingMessage,
  maxBytes: number,
  use: (zip: ReceivedZip) => Promise<R>,
): Promise<R> => {
  if (Number(body.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const folder = await mkdtemp(join(tmpdir(), "sless-upload-"));
  try {
    return await use(await receive(body, folder, maxBytes));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
