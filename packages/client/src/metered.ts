import { Readable, Transform } from "node:stream";

/** The same bytes, telling how many have passed. */
export const metered = (
  body: Buffer | Readable,
  total: number,
  onProgress: (sentBytes: number, totalBytes: number) => void,
): Readable => {
  let sent = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      sent += chunk.length;
      onProgress(sent, total);
      done(null, chunk);
    },
  });
  const source = Buffer.isBuffer(body) ? Readable.from([body]) : body;
  source.once("error", (error) => meter.destroy(error));
  meter.once("close", () => source.destroy());
  return source.pipe(meter);
};
