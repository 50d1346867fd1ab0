import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import AdmZip from "adm-zip";
import fc from "fast-check";
import { CodeRejected } from "../code/errors.js";
import { DEFAULT_CODE_LIMITS } from "../code/limits.js";
import { digestOfZip, layerFromZip } from "../layer/layer-from-zip.js";
import { digestOfFolder } from "./folder-digest.js";
import { packFolder } from "./pack-folder.js";
import { zipFolder } from "./zip-folder.js";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sless-pack-"));
  folder = join(root, "code");
  mkdirSync(folder);
  write("index.js", "export const handler = () => 1;");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: string | Buffer, mode = 0o644): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  chmodSync(full, mode);
  return full;
}
const digest = async () => (await digestOfFolder(folder)).codeDigest;
const packed = async () => (await packFolder(folder)).entries.map(({ path }) => path);

describe("the digest of a folder", () => {
  it("has a value that no release may change: it is the identity of stored code", async () => {
    write("bin/run", "#!/bin/sh\n", 0o755);
    write("lib/жук.txt", "ж");
    symlinkSync("lib", join(folder, "shared"));
    expect(await digest()).toBe("0f9f3e6305ed948ff1f41d245daa75fef2a1f349dc62033832b6f8b91f11342a");
  });

  it("D03: does not change with times, not even those that a zip can't state", async () => {
    const [old, far] = [write("old.js", "1"), write("far.js", "2")];
    const before = await digest();
    utimesSync(old, 0, 0);
    utimesSync(far, new Date("2110-01-01"), new Date("2110-01-01"));
    expect(await digest()).toBe(before);
    const zip = join(root, "out.zip");
    await zipFolder(folder, zip);
    expect((await digestOfZip(zip, DEFAULT_CODE_LIMITS)).codeDigest).toBe(before);
  });

  it("D03: does not change with umask or with what a local run leaves behind", async () => {
    const file = write("handler.py", "def handler(event, context): pass");
    const before = await digest();
    chmodSync(file, 0o600);
    write("__pycache__/handler.cpython-311.pyc", "x");
    write(".DS_Store", "x");
    for (const ofEditor of [".handler.py.swp", "handler.py~", ".#handler.py", "#handler.py#"]) write(ofEditor, "x");
    write(".git/HEAD", "x");
    write(".terraform/providers/x", "x");
    write(".sless/state.json", "x");
    expect(await digest()).toBe(before);
  });

  it.each<[string, () => void]>([
    ["a content", () => write("index.js", "other")],
    ["a name", () => write("index.mjs", "export const handler = () => 1;")],
    ["the executable bit", () => chmodSync(join(folder, "index.js"), 0o755)],
    ["an empty folder", () => mkdirSync(join(folder, "data"))],
  ])("changes with %s", async (_what, change) => {
    const before = await digest();
    change();
    expect(await digest()).not.toBe(before);
  });

  it("is that of the zip which any tool makes of it", async () => {
    write("a/b/deep.txt", "deep");
    const before = await digest();
    const zip = new AdmZip();
    for (const name of ["index.js", "a/b/deep.txt"])
      zip.addLocalFile(join(folder, name), dirname(name) === "." ? "" : dirname(name));
    zip.writeZip(join(root, "adm.zip"));
    expect((await digestOfZip(join(root, "adm.zip"), DEFAULT_CODE_LIMITS)).codeDigest).toBe(before);
  });

  it("is that of its zip and of its layer, whatever the folder holds, and tar can unpack that layer", async () => {
    const segment = fc.constantFrom(
      "a",
      "b.js",
      "Ж",
      "e\u0301",
      "with space",
      "x".repeat(120),
      "-rf",
      "%2e",
      "$(id)",
      "ключ.txt",
    );
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    const content = fc.oneof(
      fc.string(),
      fc.constant("z".repeat(40_000)),
      fc.uint8Array({ maxLength: 20_000, minLength: 18_000 }),
    );
    const files = fc.uniqueArray(fc.tuple(path, content, fc.boolean()), {
      selector: ([name]) => name,
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(files, async (tree) => {
        const base = mkdtempSync(join(root, "p-"));
        folder = join(base, "code");
        mkdirSync(folder);
        for (const [name, body, executable] of tree) tryWrite(name, Buffer.from(body as string), executable);
        const [zip, layer] = [join(base, "code.zip"), join(base, "layer.tar.gz")];
        await zipFolder(folder, zip);
        const made = await layerFromZip(zip, layer, DEFAULT_CODE_LIMITS);
        expect(made.codeDigest).toBe(await digest());
        execFileSync("tar", ["xzf", layer, "-C", base]);
        execFileSync("diff", ["-r", join(base, "code"), join(base, "function")]);
      }),
      { numRuns: 25 },
    );
  });
});

/** A generated path may use a file as a folder; the file system refuses that by itself. */
function tryWrite(name: string, content: Buffer, executable: boolean): void {
  try {
    write(name.normalize("NFC"), content, executable ? 0o755 : 0o644);
  } catch (error) {
    expect(["ENOTDIR", "EISDIR", "EEXIST"]).toContain((error as NodeJS.ErrnoException).code);
  }
}

describe("security 27: packing", () => {
  it("L5: leaves out what holds secrets, and says so once each", async () => {
    for (const name of [
      ".env",
      ".env.production",
      ".npmrc",
      "terraform.tfstate",
      "terraform.tfstate.backup",
      "sub/.env",
    ])
      write(name, "SECRET=1");
    write("key.pem", "-----BEGIN RSA PRIVATE KEY-----\nabc");
    write("id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc");
    const { entries, warnings } = await packFolder(folder);
    expect(entries.map(({ path }) => path)).toEqual(["index.js", "sub"]);
    expect(warnings.map(({ code }) => code)).toEqual(Array(8).fill("SecretSkipped"));
    expect(warnings[0]?.message).toMatch(/^"\.env" was left out: .* add "!\/\.env" to \.slessignore$/);
  });

  it("keeps certificates, which have the names of keys", async () => {
    write("certifi/cacert.pem", "-----BEGIN CERTIFICATE-----\nabc");
    expect(await packed()).toContain("certifi/cacert.pem");
  });

  it("keeps node_modules, which nothing installs later", async () => {
    write("node_modules/left-pad/index.js", "1");
    write("node_modules/.cache/x", "1");
    expect(await packed()).toEqual([
      "index.js",
      "node_modules",
      "node_modules/left-pad",
      "node_modules/left-pad/index.js",
    ]);
  });

  it("takes the user's own rules, which may take back a built-in one", async () => {
    write(".slessignore", "*.log\n/build/\n!/.npmrc\n!/key.pem\n");
    for (const name of ["debug.log", "build/x", "sub/build/x", ".npmrc", "sub/.npmrc"]) write(name, "x");
    write("key.pem", "-----BEGIN PRIVATE KEY-----");
    expect(await packed()).toEqual([".npmrc", "index.js", "key.pem", "sub", "sub/build", "sub/build/x"]);
  });

  it("D04: keeps links inside the folder and refuses, by name, those that leave it or lead nowhere", async () => {
    write("lib/x.js", "1");
    symlinkSync("index.js", join(folder, "a.js"));
    symlinkSync("./lib", join(folder, "shared"));
    expect(await packed()).toEqual(["a.js", "index.js", "lib", "lib/x.js", "shared"]);
    await zipFolder(folder, join(root, "links.zip"));
    expect((await digestOfZip(join(root, "links.zip"), DEFAULT_CODE_LIMITS)).codeDigest).toBe(await digest());
    symlinkSync("missing", join(folder, "gone"));
    await expect(packFolder(folder)).rejects.toThrow(/"gone" is a symbolic link to "missing"/);
    rmSync(join(folder, "gone"));
    symlinkSync("../other/secret.txt", join(folder, "out"));
    await expect(packFolder(folder)).rejects.toThrow(/"out" is a symbolic link that leaves/);
  });

  it("refuses sockets, too many files and too many bytes before it reads them", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await expect(packFolder(folder)).rejects.toMatchObject({ fault: "SpecialFile" });
    rmSync(join(folder, "pipe"));
    for (let i = 0; i < 5; i++) write(`f${i}`, "12345");
    await expect(packFolder(folder, { ...DEFAULT_CODE_LIMITS, entries: 4 })).rejects.toMatchObject({
      fault: "TooManyEntries",
    });
    await expect(packFolder(folder, { ...DEFAULT_CODE_LIMITS, unpackedBytes: 40 })).rejects.toMatchObject({
      fault: "TooLarge",
    });
  });

  it("says that a file changed while it was read", async () => {
    const file = write("growing.txt", "x".repeat(1000));
    const { entries } = await packFolder(folder);
    writeFileSync(file, "x");
    const entry = entries.find(({ path }) => path === "growing.txt");
    const sink = { content: () => undefined, inflated: () => undefined, compressed: () => undefined };
    await expect(entry?.kind === "file" ? entry.emit(sink) : undefined).rejects.toThrow(CodeRejected);
  });

  it("leaves no zip behind when it fails", async () => {
    symlinkSync("missing", join(folder, "gone"));
    await expect(zipFolder(folder, join(root, "out.zip"))).rejects.toThrow(CodeRejected);
    expect(readdirSync(root)).toEqual(["code"]);
  });
});
