import type { Readable } from "node:stream";

/** The runtime cuts lines at 16 KiB; JSON may double that. Longer ones are cut here. */
const MAX_LINE_BYTES = 64 * 1024;

/** Lines of a pod's log, whatever the chunks' borders; of a line that is too long only the beginning. */
export async function* readLogLines(stream: Readable): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    const room = MAX_LINE_BYTES - size;
    if (room > 0) pending.push(part.subarray(0, room));
    size += part.length;
  };
  const take = (): string => {
    const line = Buffer.concat(pending).toString("utf8");
    pending = [];
    size = 0;
    return line;
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  if (size > 0) yield take();
}
