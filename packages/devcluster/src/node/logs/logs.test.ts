import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { readLogs, type LogOptions } from "./log-reader.js";
import { createLogWriter, type LogWriter } from "./log-writer.js";

let folder: string;
let writer: LogWriter;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "logs-"));
  writer = createLogWriter(join(folder, "0.log"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const readAll = async (source: LogWriter | string, options: LogOptions = {}): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of readLogs(source, options)) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
};
const print = (text: string) => writer.append("stdout", Buffer.from(text));

describe("a container's log", () => {
  it("keeps lines whole across chunks, both streams, and bytes that are no UTF-8", async () => {
    await print("hel");
    await writer.append("stderr", Buffer.from("warn\n"));
    await print("lo Schlüter\nlast");
    await writer.append("stderr", Buffer.from([0xff, 0xfe, 0x0a]));
    await writer.close();
    const bytes: Buffer[] = [];
    for await (const part of readLogs(writer.file)) bytes.push(part);
    expect(Buffer.concat(bytes)).toEqual(
      Buffer.concat([Buffer.from("warn\nhello Schlüter\n"), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from("last\n")]),
    );
  });

  it("answers tailLines, sinceTime, timestamps and limitBytes", async () => {
    await print("one\ntwo\n");
    const middle = new Date(Date.now() + 2).toISOString();
    while (new Date().toISOString() <= middle) await new Promise(setImmediate);
    await print("three\n");
    await writer.close();
    expect(await readAll(writer.file, { tailLines: 2 })).toBe("two\nthree\n");
    expect(await readAll(writer.file, { tailLines: 0 })).toBe("");
    expect(await readAll(writer.file, { sinceTime: middle })).toBe("three\n");
    expect(await readAll(writer.file, { timestamps: true, tailLines: 1 })).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z three\n$/,
    );
    expect(await readAll(writer.file, { limitBytes: 5 })).toBe("one\nt");
  });

  it("is bounded on disk, the newest lines stay", async () => {
    writer = createLogWriter(join(folder, "small.log"), { maxBytes: 4096, maxLineBytes: 1024 });
    for (let i = 0; i < 500; i++) await print(`line ${i} ${"x".repeat(50)}\n`);
    await writer.close();
    const sizes = await Promise.all([stat(writer.file), stat(`${writer.file}.1`)]);
    expect(sizes.every(({ size }) => size <= 4096)).toBe(true);
    expect(await readAll(writer.file, { tailLines: 1 })).toMatch(/^line 499 /);
  });

  it("R38: cuts a line of 200,000 bytes and goes on with the next", async () => {
    await print(`${"a".repeat(200_000)}\ntail\n`);
    await writer.close();
    const lines = (await readAll(writer.file)).split("\n").slice(0, -1);
    expect(lines.at(-1)).toBe("tail");
    expect(Math.max(...lines.map((line) => line.length))).toBe(16 * 1024);
    expect(lines.slice(0, -1).join("")).toHaveLength(200_000);
  });

  it("is followed without a line missed or doubled while it is written", async () => {
    await print("0\n");
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of readLogs(writer, { follow: true })) seen.push(part.toString().trim());
    })();
    for (let i = 1; i < 300; i++) await print(`${i}\n`);
    await writer.close();
    await reading;
    expect(seen).toEqual(Array.from({ length: 300 }, (_, i) => String(i)));
  });

  it("lets go of a follower that hangs up", async () => {
    const abort = new AbortController();
    const reading = readAll(writer, { follow: true, signal: abort.signal });
    await print("one\n");
    abort.abort();
    expect(await reading).toBe("one\n");
  });

  it("has nothing to say about a container that never wrote", async () => {
    expect(await readAll(join(folder, "absent.log"))).toBe("");
  });
});
