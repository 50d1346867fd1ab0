import type { WatchEvent } from "./client.js";
import { makeApiError, parseStatus, TransportError } from "./errors.js";
import type { KubeObject } from "./object.js";

const NEWLINE = 0x0a;
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Splits a byte stream into lines, whatever the chunks' borders; a line without its end at the close is dropped. */
export async function* readLines(chunks: AsyncIterable<Buffer>, onChunk: () => void): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    onChunk();
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      yield Buffer.concat(pending).toString("utf8");
      [pending, size, start] = [[], 0, end + 1];
    }
    pending.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES) throw new TransportError(`a watch event is larger than ${MAX_LINE_BYTES} bytes`);
  }
}

const TYPES = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

/**
 * Parses a line of a watch. An ERROR event comes with HTTP 200 and a Status in place of an object: it is thrown, typed
 * by its code (410 → GoneError), as is a Status under any other type.
 */
export const parseWatchLine = <T extends KubeObject>(line: string, what: string): WatchEvent<T> => {
  const { type, object } = parseEvent(line, what);
  if (type === "ERROR" || object["kind"] === "Status") throw makeApiError(what, parseStatus(object, 200));
  if (typeof type !== "string" || !TYPES.has(type)) {
    throw new TransportError(`${what}: unknown watch event type ${JSON.stringify(type)}`);
  }
  if (typeof object["metadata"] !== "object" || object["metadata"] === null) {
    throw new TransportError(`${what}: a watch event without metadata`);
  }
  return { type: type as WatchEvent<T>["type"], object: object as unknown as T };
};

const parseEvent = (line: string, what: string): { type: unknown; object: Record<string, unknown> } => {
  let event: { type?: unknown; object?: unknown };
  try {
    event = JSON.parse(line) as { type?: unknown; object?: unknown };
  } catch (cause) {
    throw new TransportError(`${what}: a watch event is not JSON`, { cause });
  }
  if (typeof event?.object !== "object" || event.object === null) {
    throw new TransportError(`${what}: a watch event without an object`);
  }
  return { type: event.type, object: event.object as Record<string, unknown> };
};
