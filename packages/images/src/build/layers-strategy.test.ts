import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { startFakeRegistry, type FakeRegistry } from "@sless/testing";
import { createRegistryClient, type RegistryClient } from "../registry/client.js";
import { MEDIA_TYPES } from "../registry/documents.js";
import { ArtifactMismatch, BaseImageUnusable } from "./errors.js";
import { createLayersStrategy } from "./layers-strategy.js";
import type { BuildRequest, BuildStrategy } from "./strategy.js";

const REPO = "fn/sless-0123456789abcdef";
const BASE = "runtimes/nodejs20";
const hex = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const baseTar = Buffer.from("the tar of the base");
const baseLayer = gzipSync(baseTar);
const codeTar = Buffer.alloc(300_000, "the tar of the code ");
const codeLayer = gzipSync(codeTar);

let registry: FakeRegistry;
let client: RegistryClient;
let strategy: BuildStrategy;
beforeEach(async () => {
  registry = await startFakeRegistry();
  client = createRegistryClient({ url: registry.url, backoffMs: 1 });
  strategy = createLayersStrategy({ target: client });
});
afterEach(async () => {
  await client.close();
  await registry.close();
});

interface BaseOptions {
  architecture?: string;
  docker?: boolean;
  layerType?: string;
  into?: FakeRegistry;
}

/** Stores a base image of one layer. @returns its manifest's digest */
function addBase({ architecture = "amd64", docker = false, layerType, into = registry }: BaseOptions = {}): string {
  const config = Buffer.from(
    JSON.stringify({
      os: "linux",
      architecture,
      config: { Entrypoint: ["node", "/opt/sless/runtime/supervisor.js"], Labels: { base: "yes" } },
      rootfs: { type: "layers", diff_ids: [`sha256:${hex(baseTar)}`] },
      history: [{ created_by: "base" }],
    }),
  );
  const dockerLayer = "application/vnd.docker.image.rootfs.diff.tar.gzip";
  const layer = {
    mediaType: layerType ?? (docker ? dockerLayer : MEDIA_TYPES.layerGzip),
    digest: into.addBlob(BASE, baseLayer),
    size: baseLayer.length,
  };
  const mediaType = docker ? MEDIA_TYPES.dockerManifest : MEDIA_TYPES.manifest;
  const descriptor = { mediaType: MEDIA_TYPES.config, digest: into.addBlob(BASE, config), size: config.length };
  return into.addManifest(BASE, { schemaVersion: 2, mediaType, config: descriptor, layers: [layer] }, mediaType);
}

function addIndex(
  children: { os: string; architecture: string; digest: string }[],
  mediaType: string = MEDIA_TYPES.index,
): string {
  const manifests = children.map(({ os, architecture, digest }) => ({
    mediaType: MEDIA_TYPES.manifest,
    digest,
    size: 100,
    platform: { os, architecture },
  }));
  return registry.addManifest(BASE, { schemaVersion: 2, mediaType, manifests }, mediaType);
}

const requestFor = (baseDigest: string, overrides: Partial<BuildRequest> = {}): BuildRequest => ({
  function: { name: "hello", uid: "3f6b1f9e-0000-4000-8000-000000000001" },
  repository: REPO,
  base: `${registry.host}/${BASE}@${baseDigest}`,
  platform: { os: "linux", architecture: "amd64" },
  code: { codeDigest: hex(codeTar), openArtifact: () => Promise.resolve(Readable.from([codeLayer])) },
  ...overrides,
});

interface ReadImage {
  manifest: { mediaType: string; config: { digest: string }; layers: { mediaType: string; digest: string }[] };
  config: {
    architecture: string;
    config: { Entrypoint: string[]; Labels: Record<string, string> };
    rootfs: { diff_ids: string[] };
    history: unknown[];
  };
}

function readImage(digest: string): ReadImage {
  const manifest = JSON.parse(registry.manifests(REPO).get(digest)?.bytes.toString() ?? "") as ReadImage["manifest"];
  const config = JSON.parse(registry.blobs(REPO).get(manifest.config.digest)?.toString() ?? "") as ReadImage["config"];
  return { manifest, config };
}

describe("an image of base and code", () => {
  it("has the base's layers and settings with the code on top, under OCI types", async () => {
    const built = await strategy.build(requestFor(addBase()), {});
    const { manifest, config } = readImage(built.digest);
    expect(built).toMatchObject({ image: `${registry.host}/${REPO}@${built.digest}`, repository: REPO, cached: false });
    expect(built.layers.map(({ from }) => from)).toEqual(["base", "code"]);
    expect(manifest.mediaType).toBe(MEDIA_TYPES.manifest);
    expect(config.rootfs.diff_ids).toEqual([`sha256:${hex(baseTar)}`, `sha256:${hex(codeTar)}`]);
    expect(config.config.Entrypoint).toEqual(["node", "/opt/sless/runtime/supervisor.js"]);
    expect(config.config.Labels).toMatchObject({ base: "yes", "sless.kube5s.ru/function": "hello" });
    expect(config.history).toHaveLength(2);
    for (const { digest } of [manifest.config, ...manifest.layers]) expect(registry.blobs(REPO).has(digest)).toBe(true);
    expect(gunzipSync(registry.blobs(REPO).get(manifest.layers[1]?.digest ?? "") as Buffer)).toEqual(codeTar);
  });

  it("is tagged, so that the registry's garbage collection keeps it, and pushed after its blobs", async () => {
    const built = await strategy.build(requestFor(addBase()), {});
    const tags = [...registry.manifests(REPO).keys()].filter((name) => name.startsWith("fn-"));
    expect(tags).toHaveLength(1);
    expect(tags[0]).toMatch(/^fn-3f6b1f9e[a-z0-9]+-[0-9a-f]{32}$/);
    expect(registry.requests.at(-1)).toMatchObject({ method: "PUT", url: `/v2/${REPO}/manifests/${tags[0]}` });
    expect(built.digest).toContain(tags[0]?.split("-").at(-1));
  });

  it("is the same image again for the same inputs, from another process too", async () => {
    const base = addBase();
    const first = await strategy.build(requestFor(base), {});
    const again = await createLayersStrategy({ target: client }).build(requestFor(base), {});
    expect(again.digest).toBe(first.digest);
  });

  it("relabels a Docker base to OCI, since registries accept a mix and tools then refuse it", async () => {
    const { digest } = await strategy.build(requestFor(addBase({ docker: true })), {});
    expect(readImage(digest).manifest.layers.map((layer) => layer.mediaType)).toEqual([
      MEDIA_TYPES.layerGzip,
      MEDIA_TYPES.layerGzip,
    ]);
  });

  it("refuses a base with layers that can't be taken over", async () => {
    const foreign = addBase({ layerType: "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip" });
    await expect(strategy.build(requestFor(foreign), {})).rejects.toThrow(BaseImageUnusable);
  });

  it("takes layers of dependencies between base and code", async () => {
    const tar = Buffer.from("the tar of the dependencies");
    const dependency = { codeDigest: hex(tar), openArtifact: () => Promise.resolve(Readable.from([gzipSync(tar)])) };
    const built = await strategy.build(requestFor(addBase(), { dependencies: [dependency] }), {});
    expect(built.layers.map(({ from }) => from)).toEqual(["base", "dependencies", "code"]);
    expect(readImage(built.digest).config.rootfs.diff_ids[1]).toBe(`sha256:${hex(tar)}`);
  });
});

describe("D18: a base that is an index", () => {
  it.each([MEDIA_TYPES.index, MEDIA_TYPES.dockerIndex])("gives the image of the platform (%s)", async (mediaType) => {
    const amd64 = addBase();
    const index = addIndex(
      [
        { os: "unknown", architecture: "unknown", digest: addBase({ architecture: "unknown" }) },
        { os: "linux", architecture: "arm64", digest: addBase({ architecture: "arm64" }) },
        { os: "linux", architecture: "amd64", digest: amd64 },
      ],
      mediaType,
    );
    const { digest } = await strategy.build(requestFor(index), {});
    expect(readImage(digest).config.architecture).toBe("amd64");
  });

  it("names the platform that is missing", async () => {
    const index = addIndex([{ os: "linux", architecture: "arm64", digest: addBase({ architecture: "arm64" }) }]);
    await expect(strategy.build(requestFor(index), {})).rejects.toThrow(
      /nothing for linux\/amd64; it has linux\/arm64/,
    );
  });

  it("believes the config, not the index", async () => {
    const index = addIndex([{ os: "linux", architecture: "amd64", digest: addBase({ architecture: "arm64" }) }]);
    await expect(strategy.build(requestFor(index), {})).rejects.toThrow(/is for linux\/arm64, needed is linux\/amd64/);
  });
});

describe("blobs of the base", () => {
  it("D16: are copied where the registry refuses to mount", async () => {
    registry.intercept = ({ url }, response) => {
      if (!url.includes("mount=")) return false;
      response.writeHead(403).end();
      return true;
    };
    const { layers } = await strategy.build(requestFor(addBase()), {});
    expect(registry.blobs(REPO).get(layers[0]?.digest ?? "")).toEqual(baseLayer);
  });

  it("are copied when a mount is confirmed and the blob is not there after a garbage collection", async () => {
    let gone = true;
    registry.intercept = ({ method, url, headers }, response) => {
      if (method === "POST" && url.includes("mount=")) return respond(response, 201);
      if (headers.range !== undefined && gone) return respond(response, 404);
      if (method === "PUT" && url.includes("digest=")) gone = false;
      return false;
    };
    const { layers } = await strategy.build(requestFor(addBase()), {});
    expect(registry.blobs(REPO).get(layers[0]?.digest ?? "")).toEqual(baseLayer);
  });

  it("are copied from another registry", async () => {
    const other = await startFakeRegistry();
    const digest = addBase({ into: other });
    const source = createRegistryClient({ url: other.url });
    const across = createLayersStrategy({
      target: client,
      sourceFor: (host) => (host === other.host ? source : undefined),
    });
    const { layers } = await across.build(requestFor(digest, { base: `${other.host}/${BASE}@${digest}` }), {});
    expect(registry.blobs(REPO).get(layers[0]?.digest ?? "")).toEqual(baseLayer);
    await expect(strategy.build(requestFor(digest, { base: `elsewhere:1/${BASE}@${digest}` }), {})).rejects.toThrow(
      BaseImageUnusable,
    );
    await source.close();
    await other.close();
  });
});

describe("security 3: what the object store holds is not believed", () => {
  it.each([
    { name: "other code", stored: gzipSync(Buffer.from("evil")), message: /its digest differs/ },
    { name: "no gzip", stored: Buffer.from("not gzip"), message: /incorrect header/ },
    { name: "a cut file", stored: codeLayer.subarray(0, codeLayer.length - 9), message: /unexpected end of file/ },
    {
      name: "zeros behind its end, which zlib ignores",
      stored: Buffer.concat([codeLayer, Buffer.alloc(40)]),
      message: /bytes follow its end/,
    },
    { name: "a bomb", stored: gzipSync(Buffer.alloc(5_000_000)), message: /unpacks to more than 1000000 bytes/ },
  ])("refuses $name and leaves nothing behind", async ({ stored, message }) => {
    const bounded = createLayersStrategy({ target: client, mostTarBytes: 1_000_000 });
    const code = { codeDigest: hex(codeTar), openArtifact: () => Promise.resolve(Readable.from([stored])) };
    const error = await bounded.build(requestFor(addBase(), { code }), {}).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ArtifactMismatch);
    expect((error as Error).message).toMatch(message);
    expect(registry.openUploads()).toBe(0);
    expect(registry.blobs(REPO).has(`sha256:${hex(stored)}`)).toBe(false);
    expect(registry.manifests(REPO).size).toBe(0);
  });

  it("accepts a layer of several gzip members", async () => {
    const stored = Buffer.concat([gzipSync(codeTar.subarray(0, 1000)), gzipSync(codeTar.subarray(1000))]);
    const code = { codeDigest: hex(codeTar), openArtifact: () => Promise.resolve(Readable.from([stored])) };
    await expect(strategy.build(requestFor(addBase(), { code }), {})).resolves.toMatchObject({ cached: false });
  });
});

describe("what is built already", () => {
  it("is known from the recorded digest and pushes nothing", async () => {
    const request = requestFor(addBase());
    const { digest } = await strategy.build(request, {});
    registry.requests.length = 0;
    const again = await strategy.build({ ...request, recordedDigest: digest }, {});
    expect(again).toMatchObject({ digest, cached: true });
    expect(again.layers.map(({ from }) => from)).toEqual(["base", "code"]);
    expect(new Set(registry.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  it("is built again when a part of it is gone", async () => {
    const request = requestFor(addBase());
    const { digest, layers } = await strategy.build(request, {});
    registry.blobs(REPO).delete(layers[1]?.digest ?? "");
    expect(await strategy.build({ ...request, recordedDigest: digest }, {})).toMatchObject({ digest, cached: false });
    expect(registry.blobs(REPO).has(layers[1]?.digest ?? "")).toBe(true);
  });

  it("security 4: is never taken from a tag that somebody left", async () => {
    const request = requestFor(addBase());
    const { digest } = await strategy.build(request, {});
    const tag = [...registry.manifests(REPO).keys()].find((name) => name.startsWith("fn-")) ?? "";
    registry.manifests(REPO).set(tag, { bytes: Buffer.from("{}"), mediaType: MEDIA_TYPES.manifest });
    expect((await strategy.build(request, {})).digest).toBe(digest);
  });

  it("has a key of what decides the image and nothing else", () => {
    const request = requestFor(`sha256:${"0".repeat(64)}`);
    const key = strategy.key(request);
    expect(strategy.key({ ...request, recordedDigest: "sha256:1" })).toBe(key);
    expect(strategy.key({ ...request, code: { ...request.code, codeDigest: "1".repeat(64) } })).not.toBe(key);
    expect(strategy.key({ ...request, base: request.base.replace("nodejs20", "other") })).not.toBe(key);
    expect(strategy.key({ ...request, platform: { os: "linux", architecture: "arm64" } })).not.toBe(key);
  });
});

describe("the caller", () => {
  it("learns that dependencies are listed and not there", async () => {
    const files = [
      { path: "package-lock.json", size: 1 },
      { path: "requirements.txt", size: 1 },
      { path: "node_modules/a/index.js", size: 1 },
    ];
    const request = requestFor(addBase());
    const { warnings } = await strategy.build({ ...request, code: { ...request.code, summary: { files } } }, {});
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringMatching(/^requirements.txt is there, but/)]);
  });

  it("may give up, and nothing stays half-made", async () => {
    const giveUp = new AbortController();
    const stalled = new Readable({ read: () => giveUp.abort(new Error("enough")) });
    const code = { codeDigest: hex(codeTar), openArtifact: () => Promise.resolve(stalled) };
    await expect(strategy.build(requestFor(addBase(), { code }), { signal: giveUp.signal })).rejects.toThrow("enough");
    expect(registry.openUploads()).toBe(0);
    expect(stalled.destroyed).toBe(true);
    expect(registry.manifests(REPO).size).toBe(0);
  });
});

function respond(response: { writeHead(status: number): { end(): unknown } }, status: number): true {
  response.writeHead(status).end();
  return true;
}
