import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { pack, type Header } from "tar-stream";
import { makeBaseImage } from "../../base-image/base-image.js";
import { createRegistry, type Registry } from "../../registry/registry.js";
import { createImageCache } from "./image-cache.js";
import { parseImageReference } from "./reference.js";
import { createRegistryReader } from "./registry-client.js";
import { unpackLayer } from "./unpack-layer.js";

const sha256 = (body: Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;
const credentials = { username: "sless", password: "s3cret" };
type TarEntry = Partial<Header> & { name: string; content?: string };

let folder: string;
let root: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "image-"));
  root = join(folder, "rootfs");
  await mkdir(root);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const makeTar = async (entries: TarEntry[]): Promise<Buffer> => {
  const archive = pack();
  for (const { content, ...header } of entries) archive.entry(header, content ?? "");
  archive.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of archive as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
};

const unpackTar = (tar: Buffer, compressed: Buffer = gzipSync(tar), chunkSize = compressed.length): Promise<void> => {
  const chunks = Array.from({ length: Math.ceil(compressed.length / chunkSize) }, (_, i) =>
    compressed.subarray(i * chunkSize, (i + 1) * chunkSize),
  );
  const mediaType = "application/vnd.oci.image.layer.v1.tar+gzip";
  const layer = { body: Readable.from(chunks), mediaType, digest: sha256(compressed), diffId: sha256(tar) };
  return unpackLayer(root, layer, { bytes: 1024 * 1024, entries: 100 });
};
const unpack = async (entries: TarEntry[]): Promise<void> => unpackTar(await makeTar(entries));
const content = (name: string): Promise<string> => readFile(join(root, name), "utf8");

describe("unpacking a layer", () => {
  it("writes files, folders and links, without setuid bits", async () => {
    await unpack([
      { name: "bin/", type: "directory", mode: 0o555 },
      { name: "bin/tool", content: "#!", mode: 0o4755 },
      { name: "lib", type: "symlink", linkname: "/bin" },
      { name: "lib/via-link", content: "through" },
      { name: "twin", type: "link", linkname: "bin/tool" },
    ]);
    expect((await stat(join(root, "bin/tool"))).mode & 0o7777).toBe(0o755);
    expect(await content("bin/via-link")).toBe("through");
    expect(await content("twin")).toBe("#!");
  });

  it("reads gzip of several members, wherever the chunks end", async () => {
    const tar = await makeTar([{ name: "a", content: "x".repeat(5000) }]);
    const members = [tar.subarray(0, 700), tar.subarray(700, 3000), tar.subarray(3000)].map((part) => gzipSync(part));
    const compressed = Buffer.concat(members);
    for (const chunkSize of [1, members[0]?.length ?? 0, compressed.length]) {
      await unpackTar(tar, compressed, chunkSize);
      expect(await content("a")).toHaveLength(5000);
    }
  });

  it("hides what whiteouts name, and nothing else", async () => {
    await unpack([
      { name: "keep/a", content: "" },
      { name: "keep/b", content: "" },
      { name: "gone/a", content: "" },
    ]);
    await unpack([{ name: "keep/.wh.a" }, { name: "gone/.wh..wh..opq" }, { name: "gone/new", content: "" }]);
    expect(await readdir(join(root, "keep"))).toEqual(["b"]);
    expect(await readdir(join(root, "gone"))).toEqual(["new"]);
  });

  it.each<[string, TarEntry[]]>([
    ["a parent path", [{ name: "../outside", content: "x" }]],
    ["a parent path inside", [{ name: "a/../../outside", content: "x" }]],
    ["a whiteout of the parent", [{ name: "a/.wh..." }]],
    ["a hard link to the outside", [{ name: "x", type: "link", linkname: "../../etc/passwd" }]],
    ["a device", [{ name: "null", type: "character-device" }]],
    ["a fifo", [{ name: "pipe", type: "fifo" }]],
    ["more bytes than allowed", [{ name: "big", content: "x".repeat(1024 * 1024 + 1) }]],
    ["more entries than allowed", Array.from({ length: 101 }, (_, i) => ({ name: `f${i}`, content: "" }))],
  ])("security 16: refuses %s", async (_, entries) => {
    await expect(unpack(entries)).rejects.toThrow(/leaves the image|names no file|devcluster/);
    expect(await readdir(folder)).toEqual(["rootfs"]);
  });

  it.each([
    ["absolute", "/etc"],
    ["climbing", "../../../../etc"],
  ])("security 16: a link to /etc that is %s stays inside, to write through and to read", async (_, linkname) => {
    await unpack([
      { name: "etc/", type: "directory" },
      { name: "deep/down/", type: "directory" },
      { name: "deep/down/link", type: "symlink", linkname },
      { name: "deep/down/link/devcluster-test", content: "inside" },
    ]);
    expect(await content("etc/devcluster-test")).toBe("inside");
    expect(await content("deep/down/link/devcluster-test")).toBe("inside");
  });

  it("security 4: refuses bytes that are not those of the digest, packed or unpacked", async () => {
    const tar = await makeTar([{ name: "a", content: "x" }]);
    const layer = { body: Readable.from([tar]), mediaType: "application/vnd.oci.image.layer.v1.tar" };
    const budget = { bytes: 1e6, entries: 10 };
    await expect(
      unpackLayer(root, { ...layer, digest: sha256(Buffer.from("other")), diffId: sha256(tar) }, budget),
    ).rejects.toThrow(/layer has digest/);
    await expect(
      unpackLayer(root, { ...layer, body: Readable.from([tar]), digest: sha256(tar), diffId: "sha256:0" }, budget),
    ).rejects.toThrow(/uncompressed layer has digest/);
  });
});

describe("image names", () => {
  it.each([
    ["127.0.0.1:5000/a/b@sha256:" + "a".repeat(64), "127.0.0.1:5000", "a/b", "sha256:" + "a".repeat(64)],
    ["registry.example/app:v1", "registry.example", "app", "v1"],
    ["localhost/app", "localhost", "app", "latest"],
  ])("reads %s", (image, host, repository, reference) => {
    expect(parseImageReference(image)).toEqual({ host, repository, reference });
  });
  it.each(["nginx", "library/nginx", "", "http://x/y", "a b/c"])("refuses %j", (image) => {
    expect(() => parseImageReference(image)).toThrow(/image name/);
  });
});

describe("pulling", () => {
  let registry: Registry;
  let source: string;
  const reader = createRegistryReader(credentials);

  beforeEach(async () => {
    registry = await createRegistry({ dataDir: join(folder, "registry"), credentials });
    source = join(folder, "source");
    await mkdir(source);
    await writeFile(join(source, "run.js"), "1");
  });
  afterEach(() => registry.close());

  const push = (repository = "runtimes/demo"): Promise<string> =>
    makeBaseImage({
      registry,
      repository,
      files: { "/opt/demo": source },
      entrypoint: ["node", "/opt/demo/run.js"],
      env: { B: "2", A: "1" },
    });
  const openCache = (keepUnused = 5) => createImageCache({ folder: join(folder, "images"), keepUnused });

  it("gives the same digest for the same files", async () => {
    const first = await push();
    await writeFile(join(source, "run.js"), "1");
    expect(await push()).toBe(first);
    await writeFile(join(source, "run.js"), "2");
    expect(await push()).not.toBe(first);
  });

  it("unpacks once for many, keeps it over a restart, and needs no registry then", async () => {
    const digest = await push();
    const image = `${registry.host}/runtimes/demo@${digest}`;
    const request = { image, policy: "IfNotPresent", reader } as const;
    const cache = await openCache();
    const leases = await Promise.all([cache.acquire(request), cache.acquire(request)]);
    expect(leases.filter(({ pulled }) => pulled)).toHaveLength(1);
    const config = leases[0].image.config;
    expect([config.Entrypoint, config.Env]).toEqual([
      ["node", "/opt/demo/run.js"],
      ["A=1", "B=2"],
    ]);
    await registry.close();
    const again = await (await openCache()).acquire(request);
    expect([again.pulled, await readFile(join(again.image.rootfs, "opt/demo/run.js"), "utf8")]).toEqual([false, "1"]);
  });

  it("evicts what nobody uses, oldest first, never what runs", async () => {
    const cache = await openCache(0);
    const held = await cache.acquire({ image: `${registry.host}/a@${await push("a")}`, policy: "Always", reader });
    await writeFile(join(source, "run.js"), "2");
    const other = await cache.acquire({ image: `${registry.host}/b@${await push("b")}`, policy: "Always", reader });
    other.release();
    const names = () => readdir(join(folder, "images"));
    const deadline = Date.now() + 3000;
    while ((await names()).length > 1 && Date.now() < deadline) await new Promise(setImmediate);
    expect(await names()).toEqual([held.image.digest.replace(":", "-")]);
  });

  it.each([
    ["a missing image", "never/was:v1", credentials, /failed to pull .*never\/was.*: 404 manifest unknown/],
    [
      "a wrong login",
      "never/was:v1",
      { username: "sless", password: "no" },
      /401 unauthorized: authentication required/,
    ],
  ])("says what the registry says about %s", async (_, name, login, message) => {
    const cache = await openCache();
    const request = {
      image: `${registry.host}/${name}`,
      policy: "Always",
      reader: createRegistryReader(login),
    } as const;
    await expect(cache.acquire(request)).rejects.toThrow(message);
  });

  it("names the platform that an index lacks (D18)", async () => {
    const digest = await push();
    const child = (os: string, architecture: string) => ({
      mediaType: "x",
      digest,
      size: 1,
      platform: { os, architecture },
    });
    const index = "application/vnd.oci.image.index.v1+json";
    const put = (tag: string, manifests: object[]) =>
      fetch(`${registry.url}/v2/runtimes/demo/manifests/${tag}`, {
        method: "PUT",
        headers: { "Content-Type": index, Authorization: `Basic ${btoa("sless:s3cret")}` },
        body: JSON.stringify({ schemaVersion: 2, mediaType: index, manifests }),
      });
    const here = process.arch === "x64" ? "amd64" : process.arch;
    await put("good", [child("unknown", "unknown"), child("linux", here)]);
    await put("bad", [child("unknown", "unknown"), child("linux", "riscv64")]);
    const cache = await openCache();
    const acquire = (tag: string) =>
      cache.acquire({ image: `${registry.host}/runtimes/demo:${tag}`, policy: "Always", reader });
    expect((await acquire("good")).image.digest).toBe(digest);
    await expect(acquire("bad")).rejects.toThrow(`no match for platform linux/${here}`);
  });
});
