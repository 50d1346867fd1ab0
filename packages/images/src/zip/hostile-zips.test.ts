import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { buildZip, type ZipPart } from "@sless/testing";
import { CodeRejected, type CodeFault } from "../code/errors.js";
import { DEFAULT_CODE_LIMITS, type CodeLimits } from "../code/limits.js";
import { digestOfZip } from "../layer/layer-from-zip.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sless-zips-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function read(zip: Buffer, limits: Partial<CodeLimits> = {}) {
  const path = join(folder, `${count++}.zip`);
  writeFileSync(path, zip);
  return digestOfZip(path, { ...DEFAULT_CODE_LIMITS, ...limits });
}
async function faultOf(zip: Buffer, limits: Partial<CodeLimits> = {}): Promise<CodeRejected> {
  const error = await read(zip, limits).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CodeRejected);
  return error as CodeRejected;
}
const code: ZipPart = { name: "index.js", content: "export const handler = () => 1;" };
const link = (name: string, target: string): ZipPart => ({ name, content: target, mode: 0o120777 });
const good = buildZip([code]);
/** A large file that deflates well: its stream is taken over as it is. */
const large = Buffer.alloc(300_000, "some text that repeats ");
const huge = Buffer.alloc(3_000_000, "some text that repeats ");

interface BadZip {
  name: string;
  zip: () => Buffer;
  fault: CodeFault;
  says?: RegExp;
  limits?: Partial<CodeLimits>;
}

describe("a zip as a whole", () => {
  it.each<BadZip>([
    { name: "without a byte", zip: () => Buffer.alloc(0), fault: "Empty" },
    { name: "without an entry", zip: () => buildZip([]), fault: "Empty" },
    { name: "with folders only", zip: () => buildZip([{ name: "a/" }]), fault: "Empty" },
    {
      name: "that is something else",
      zip: () => Buffer.from("<html>".repeat(100)),
      fault: "NotAZip",
      says: /not a zip/,
    },
    { name: "shorter than its end record", zip: () => Buffer.from("PK\x03\x04"), fault: "Truncated" },
    { name: "cut off before its directory", zip: () => good.subarray(0, 60), fault: "Truncated", says: /cut off/ },
    { name: "cut off in its end record", zip: () => good.subarray(0, good.length - 1), fault: "Truncated" },
    {
      name: "with its middle missing",
      zip: () => Buffer.concat([good.subarray(0, 40), good.subarray(60)]),
      fault: "Truncated",
    },
    { name: "with bytes before it", zip: () => Buffer.concat([Buffer.alloc(100), good]), fault: "Corrupt" },
    { name: "larger than an upload may be", zip: () => good, fault: "TooLarge", limits: { uploadBytes: 50 } },
    {
      name: "in zip64 form",
      zip: () => withEnd(good, (end) => end.writeUInt32LE(0xffffffff, 16)),
      fault: "Unsupported",
      says: /zip64/,
    },
    {
      name: "with a directory that is not one",
      zip: () => withDirectory(good, (bytes) => bytes.write("XX")),
      fault: "Corrupt",
    },
    {
      name: "that counts more entries than it has",
      zip: () => withEnd(good, (end) => end.writeUInt16LE(2, 10)),
      fault: "Corrupt",
    },
    {
      name: "of 20,001 entries",
      zip: () => buildZip(many(20_001)),
      fault: "TooManyEntries",
      says: /20001 entries; at most 20000/,
    },
    { name: "of 65,535 entries", zip: () => buildZip(many(65_535)), fault: "TooManyEntries" },
    { name: "of 100,000 entries", zip: () => buildZip(many(100_000)), fault: "TooManyEntries", says: /65,535 or more/ },
    {
      name: "whose few deep paths imply many folders",
      zip: () => buildZip(deep(100)),
      fault: "TooManyEntries",
      limits: { entries: 1000 },
    },
  ])("$name is refused", async ({ zip, fault, says = /./, limits }) => {
    const error = await faultOf(zip(), limits);
    expect(error.fault).toBe(fault);
    expect(error.message).toMatch(says);
  });
});

describe("sizes", () => {
  it.each<BadZip>([
    {
      name: "a bomb of one file",
      zip: () => buildZip([{ name: "b", content: Buffer.alloc(20_000_000) }]),
      fault: "CompressionRatio",
    },
    {
      name: "a file beyond the limit",
      zip: () => buildZip([{ name: "b", content: large }]),
      fault: "TooLarge",
      limits: { fileBytes: 1000 },
    },
    {
      name: "files that are too much together",
      zip: () =>
        buildZip([
          { name: "a", content: large },
          { name: "b", content: large },
        ]),
      fault: "TooLarge",
      limits: { unpackedBytes: 500_000 },
    },
    {
      name: "a small file that states less than it holds",
      zip: () => buildZip([{ name: "b", content: "x".repeat(9000), declaredSize: 10 }]),
      fault: "Corrupt",
    },
    {
      name: "a large file that states less than it holds",
      zip: () => buildZip([{ name: "b", content: Buffer.alloc(90_000_000), declaredSize: 2_000_000 }]),
      fault: "Corrupt",
    },
    {
      name: "a file that states more than it holds",
      zip: () => buildZip([{ name: "b", content: "x", declaredSize: 10 }]),
      fault: "Corrupt",
    },
    {
      name: "a stored file of two sizes",
      zip: () => buildZip([{ name: "b", content: "xyz", method: "store", declaredSize: 2 }]),
      fault: "Corrupt",
    },
    {
      name: "a wrong checksum of a small file",
      zip: () => buildZip([{ name: "b", content: "xyz", crc: 1 }]),
      fault: "Corrupt",
      says: /checksum/,
    },
    {
      name: "a wrong checksum of a stored file",
      zip: () => buildZip([{ name: "b", content: huge, method: "store", crc: 1 }]),
      fault: "Corrupt",
    },
    {
      name: "a wrong checksum of a large file",
      zip: () => buildZip([{ name: "b", content: large, crc: 1 }]),
      fault: "Corrupt",
    },
    {
      name: "a wrong checksum of a huge file",
      zip: () => buildZip([{ name: "b", content: huge, crc: 1 }]),
      fault: "Corrupt",
    },
    {
      name: "data that is not deflate",
      zip: () => buildZip([{ name: "b", raw: Buffer.alloc(50, 0xff), declaredSize: 50 }]),
      fault: "Corrupt",
    },
    {
      name: "bytes behind the deflate stream of a small file",
      zip: () => trailing(Buffer.from("x")),
      fault: "Corrupt",
      says: /behind the end/,
    },
    {
      name: "bytes behind the deflate stream of a large file",
      zip: () => trailing(large),
      fault: "Corrupt",
      says: /behind the end/,
    },
    {
      name: "bytes behind the deflate stream of a huge file",
      zip: () => trailing(huge),
      fault: "Corrupt",
      says: /behind the end/,
    },
    {
      name: "two entries that share their data",
      zip: () =>
        buildZip([
          { name: "a", content: large },
          { name: "a", sameDataAs: 0, content: large },
        ]),
      fault: "Overlap",
    },
    { name: "an entry that reaches into the next", zip: () => overlapping(), fault: "Overlap" },
  ])("$name: refused", async ({ zip, fault, says = /./, limits }) => {
    const error = await faultOf(zip(), limits);
    expect(error.fault).toBe(fault);
    expect(error.message).toMatch(says);
  });

  it("lets small texts compress as well as they like", async () => {
    await expect(read(buildZip([{ name: "log.txt", content: Buffer.alloc(4_000_000, "a") }]))).resolves.toMatchObject({
      entries: 1,
    });
  });
});

describe("names", () => {
  it.each<[string, CodeFault, RegExp]>([
    ["../evil", "BadName", /'\.\.'/],
    ["a/../../evil", "BadName", /'\.\.'/],
    ["a/..", "BadName", /'\.\.'/],
    ["/etc/passwd", "BadName", /absolute/],
    ["C:/Windows", "BadName", /drive letter/],
    ["c:evil", "BadName", /drive letter/],
    ["a\\b", "BadName", /backslash/],
    ["..\\evil", "BadName", /backslash/],
    ["a\0.js", "BadName", /control character/],
    ["a\n.js", "BadName", /control character/],
    ["etc/.wh.passwd", "BadName", /reserved in image layers/],
    [".wh..wh..opq", "BadName", /reserved in image layers/],
    ["x".repeat(256), "BadName", /longer than 255/],
    ["x/".repeat(600) + "y", "BadName", /longer than 1024 bytes/],
    ["", "BadName", /empty name/],
  ])("%j is refused", async (name, fault, says) => {
    const error = await faultOf(buildZip([{ name, content: "x" }, code]));
    expect(error.fault).toBe(fault);
    expect(error.message).toMatch(says);
    // eslint-disable-next-line no-control-regex -- a message must not carry raw control characters
    expect(error.message).not.toMatch(/[\u0000-\u001f]/);
  });

  it.each<[string, ZipPart[], CodeFault]>([
    ["the same name twice", [code, code], "DuplicateName"],
    [
      "names equal in NFC",
      [
        { name: "e\u0301.js", content: "1" },
        { name: "\u00e9.js", content: "2" },
      ],
      "DuplicateName",
    ],
    ["names equal without ./", [code, { ...code, name: "./index.js" }], "DuplicateName"],
    [
      "a file used as a folder",
      [
        { name: "a", content: "1" },
        { name: "a/b", content: "2" },
      ],
      "PathConflict",
    ],
    [
      "a file used as a folder later",
      [
        { name: "a/b", content: "2" },
        { name: "a", content: "1" },
      ],
      "PathConflict",
    ],
    ["a name that ends like a folder on a file", [{ name: "a/", mode: 0o100644 }, code], "PathConflict"],
    ["a device", [{ name: "dev", mode: 0o020666 }, code], "SpecialFile"],
    ["a pipe", [{ name: "pipe", mode: 0o010644 }, code], "SpecialFile"],
    ["an encrypted entry", [{ ...code, flags: 0x801 }], "Encrypted"],
    ["a masked directory", [{ ...code, flags: 0x2000 }], "Encrypted"],
    ["an unknown compression", [{ ...code, method: 14 }], "Unsupported"],
    ["two names in header and directory", [{ ...code, localName: "evil.js" }], "Corrupt"],
    ["a folder with content", [{ name: "a/", content: "x" }, code], "Corrupt"],
  ])("%s: refused", async (_name, parts, fault) => {
    expect((await faultOf(buildZip(parts))).fault).toBe(fault);
  });

  it("reads a name that is no UTF-8 as CP437, whatever the flag says", async () => {
    const { files } = await read(buildZip([{ name: Buffer.from([0x81, 0x2e, 0x6a, 0x73]), content: "1" }]));
    expect(files).toEqual([{ path: "ü.js", size: 1 }]);
  });

  it("reads UTF-8 without the flag as what it is", async () => {
    const { files } = await read(buildZip([{ name: "жук.js", content: "1", flags: 0 }]));
    expect(files).toEqual([{ path: "жук.js", size: 1 }]);
  });

  it("warns of names that differ only in case", async () => {
    const { warnings } = await read(
      buildZip([
        { name: "A.js", content: "1" },
        { name: "a.js", content: "2" },
      ]),
    );
    expect(warnings).toEqual([{ code: "CaseCollision", message: expect.stringContaining('"A.js" and "a.js"') }]);
  });
});

describe("D04: symbolic links", () => {
  const lib: ZipPart[] = [code, { name: "lib/deep/x.js", content: "1" }];
  it.each<[string, ZipPart[], RegExp]>([
    ["out of the code", [link("out", "../secret.txt")], /leaves the code's folder/],
    ["out of the code from below", [link("lib/out", "../../secret.txt")], /leaves the code's folder/],
    [
      "out through another link, which a lexical check would pass",
      [link("l", "lib/deep"), link("lib/deep/m", "../../l/../../../x")],
      /leaves the code's folder/,
    ],
    ["to nowhere", [link("gone", "missing")], /not in the code/],
    ["absolute", [link("abs", "/etc/passwd")], /absolute/],
    ["empty", [link("none", "")], /empty/],
    ["to itself", [link("self", "self")], /circle/],
    ["in a circle", [link("a", "b"), link("b", "a")], /circle/],
    ["through a file", [link("a", "index.js/x")], /treats a file as a folder/],
  ])("%s: refused", async (_name, links, says) => {
    const error = await faultOf(buildZip([...lib, ...links]));
    expect(error.fault).toBe("BadSymlink");
    expect(error.message).toMatch(says);
  });

  it("below a link nothing may be placed", async () => {
    const error = await faultOf(buildZip([...lib, link("l", "lib"), { name: "l/evil.js", content: "1" }]));
    expect(error.fault).toBe("PathConflict");
  });

  it("inside the code are kept", async () => {
    const { entries } = await read(
      buildZip([...lib, link("a.js", "index.js"), link("shared", "./lib"), link("lib/up", "../shared/deep/..")]),
    );
    expect(entries).toBe(7);
  });
});

function many(entries: number): ZipPart[] {
  return Array.from({ length: entries }, (_, index) => ({ name: `f${index}`, method: "store" as const }));
}

function deep(entries: number): ZipPart[] {
  return Array.from({ length: entries }, (_, index) => ({ name: `${index}/` + "x/".repeat(400) + "f", content: "1" }));
}

function trailing(content: Buffer): Buffer {
  return buildZip([{ name: "b", content, raw: Buffer.concat([deflateRawSync(content), Buffer.from("hidden")]) }]);
}

/** The first entry claims the bytes up to the directory, the second lies within. */
function overlapping(): Buffer {
  const inner = buildZip([{ name: "b", content: "xyz", method: "store" }]).subarray(0, 34);
  const zip = buildZip([
    { name: "a", raw: inner, declaredSize: inner.length, method: "store" },
    { name: "b", content: "xyz", method: "store" },
  ]);
  const second = zip.lastIndexOf("PK\x01\x02");
  zip.writeUInt32LE(zip.indexOf("PK\x03\x04", 4), second + 42);
  return zip;
}

function withEnd(zip: Buffer, change: (end: Buffer) => void): Buffer {
  const copy = Buffer.from(zip);
  change(copy.subarray(copy.length - 22));
  return copy;
}

function withDirectory(zip: Buffer, change: (directory: Buffer) => void): Buffer {
  const copy = Buffer.from(zip);
  change(copy.subarray(copy.indexOf("PK\x01\x02")));
  return copy;
}
