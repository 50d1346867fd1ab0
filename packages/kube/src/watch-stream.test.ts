import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { GoneError, TransportError } from "./errors.js";
import { parseWatchLine, readLines } from "./watch-stream.js";

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

const collect = async (lines: AsyncIterable<string>): Promise<string[]> => {
  const result: string[] = [];
  for await (const line of lines) result.push(line);
  return result;
};

describe("readLines", () => {
  it("gives the same lines however the bytes are cut", async () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 50 }), async (lines, size) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        expect(await collect(readLines(chunksOf(bytes, size), () => undefined))).toEqual(lines);
      }),
    );
  });

  it("drops a half line at the end", async () => {
    expect(await collect(readLines(chunksOf(Buffer.from('{"a":1}\n{"b"'), 3), () => undefined))).toEqual(['{"a":1}']);
  });

  it("refuses a line without end", async () => {
    const endless = async function* () {
      for (;;) yield await Promise.resolve(Buffer.alloc(1024 * 1024, "x"));
    };
    await expect(collect(readLines(endless(), () => undefined))).rejects.toThrow(TransportError);
  });
});

describe("parseWatchLine", () => {
  it("hands over an object", () => {
    const object = { kind: "Pod", metadata: { name: "a" } };
    expect(parseWatchLine(JSON.stringify({ type: "ADDED", object }), "watch Pod")).toEqual({ type: "ADDED", object });
  });

  it("D24: throws an ERROR event's Status, typed by its code", () => {
    const object = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
    expect(() => parseWatchLine(JSON.stringify({ type: "ERROR", object }), "watch Pod")).toThrow(GoneError);
  });

  it("D24: never takes a Status for an object, whatever the event's type", () => {
    const object = { kind: "Status", code: 410, metadata: {} };
    expect(() => parseWatchLine(JSON.stringify({ type: "ADDED", object }), "watch Pod")).toThrow(GoneError);
  });

  it.each([
    "not json",
    "null",
    "[]",
    '{"type":"ADDED"}',
    '{"type":"ODD","object":{"metadata":{}}}',
    '{"type":"ADDED","object":{}}',
  ])("refuses %s", (line) => {
    expect(() => parseWatchLine(line, "watch Pod")).toThrow(TransportError);
  });
});
