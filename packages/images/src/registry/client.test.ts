import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { startFakeRegistry, type FakeRegistry, type Intercept } from "@sless/testing";
import { createRegistryClient, type RegistryClient } from "./client.js";
import { MEDIA_TYPES } from "./documents.js";
import { RegistryDenied, RegistryLied, RegistryNotFound, RegistryRefused, RegistryUnavailable } from "./errors.js";
import { sha256Digest } from "./verify.js";

const REPO = "fn/sless-0123456789abcdef";
const blob = Buffer.from("some bytes of a layer");
const source = (bytes: Buffer) => ({ open: () => Promise.resolve(Readable.from([bytes])) });

let registry: FakeRegistry;
let client: RegistryClient;
const seen = (method: string, part: string) =>
  registry.requests.filter((request) => request.method === method && request.url.includes(part));
/** Answers the first `times` requests that match, and lets all others through. */
const failing = (
  times: number,
  matches: (request: Parameters<Intercept>[0]) => boolean,
  answer: Intercept,
): Intercept => {
  let left = times;
  return (request, response) => left > 0 && matches(request) && left-- > 0 && answer(request, response);
};
const status =
  (code: number, headers: Record<string, string> = {}, body = ""): Intercept =>
  (_request, response) => {
    response.writeHead(code, headers).end(body);
    return true;
  };

beforeEach(async () => {
  registry = await startFakeRegistry();
  client = createRegistryClient({ url: registry.url, backoffMs: 1 });
});
afterEach(async () => {
  await client.close();
  await registry.close();
});

describe("blobs", () => {
  it("streams a blob of unknown digest up and names it by what was sent", async () => {
    const pushed = await client.uploadBlob(REPO, source(blob));
    expect(pushed).toEqual({ digest: sha256Digest(blob), size: blob.length });
    expect(registry.blobs(REPO).get(pushed.digest)).toEqual(blob);
  });

  it("refuses to push other bytes than were promised, and cancels the upload", async () => {
    const other = { ...source(blob), digest: sha256Digest(Buffer.from("other")) };
    await expect(client.uploadBlob(REPO, other)).rejects.toThrow(RegistryLied);
    expect(registry.openUploads()).toBe(0);
    expect(registry.blobs(REPO).size).toBe(0);
  });

  it("passes on what the source fails with, and cancels the upload", async () => {
    const broken = { open: () => Promise.resolve(Readable.from(failingChunks())) };
    await expect(client.uploadBlob(REPO, broken)).rejects.toThrow("the store went away");
    expect(registry.openUploads()).toBe(0);
  });

  it.each([500, 502, 503, 429])("opens the source again after a %d in the middle of an upload", async (code) => {
    registry.intercept = failing(2, ({ method }) => method === "PATCH", status(code));
    let opened = 0;
    const large = Buffer.alloc(600_000, "streamed, not gathered ");
    const counted = {
      open: () => Promise.resolve(Readable.from([large.subarray(0, ++opened && 300_000), large.subarray(300_000)])),
    };
    await client.uploadBlob(REPO, counted);
    expect(opened).toBe(3);
    expect(registry.blobs(REPO).get(sha256Digest(large))).toEqual(large);
  });

  it("stops after a bounded number of tries", async () => {
    registry.intercept = (_request, response) => status(503)(_request, response);
    await expect(client.uploadBlob(REPO, source(blob))).rejects.toThrow(RegistryUnavailable);
    expect(seen("POST", "/uploads/")).toHaveLength(4);
  });

  it("security 4: does not believe a registry that sends another blob under a digest", async () => {
    const digest = registry.addBlob(REPO, blob);
    registry.intercept = failing(
      1,
      ({ url }) => url.includes(digest),
      status(200, { "docker-content-digest": digest }, "evil"),
    );
    await expect(client.readBlob(REPO, digest, 1000)).rejects.toThrow(RegistryLied);
  });

  it("bounds what it reads", async () => {
    const digest = registry.addBlob(REPO, Buffer.alloc(2000));
    await expect(client.readBlob(REPO, digest, 1000)).rejects.toThrow(/larger than 1000 bytes/);
  });

  it("finds a blob missing that HEAD and mount would claim after a garbage collection", async () => {
    const digest = registry.addBlob(REPO, blob);
    expect(await client.hasBlob(REPO, digest)).toBe(true);
    registry.intercept = ({ method, url }, response) => {
      if (method !== "GET" || !url.includes(digest)) return false;
      response.writeHead(200, { "content-length": blob.length });
      response.flushHeaders();
      response.destroy();
      return true;
    };
    expect(await client.hasBlob(REPO, digest)).toBe(false);
  });
});

describe("mounts", () => {
  it("shares a blob of another repository", async () => {
    const digest = registry.addBlob("base/node", blob);
    expect(await client.mountBlob(REPO, { digest, from: "base/node" })).toBe(true);
    expect(registry.blobs(REPO).has(digest)).toBe(true);
  });

  it.each([
    { name: "(a) a token that is refused", intercept: status(403) },
    { name: "(c) 401 without a way to log in", intercept: status(401, { "www-authenticate": "Negotiate" }) },
    { name: "an unknown parameter", intercept: status(400) },
    { name: "an unknown repository", intercept: status(404) },
  ])("D16: $name means copy instead", async ({ intercept }) => {
    registry.intercept = failing(9, ({ url }) => url.includes("mount="), intercept);
    expect(await client.mountBlob(REPO, { digest: sha256Digest(blob), from: "base/node" })).toBe(false);
  });

  it("D16: (b) 202 with an upload means copy instead, and the upload is cancelled", async () => {
    expect(await client.mountBlob(REPO, { digest: sha256Digest(blob), from: "base/none" })).toBe(false);
    expect(registry.openUploads()).toBe(0);
  });
});

describe("manifests and tags", () => {
  const manifest = { bytes: Buffer.from('{"schemaVersion":2}'), mediaType: MEDIA_TYPES.manifest };

  it("pushes under a tag and reads back by digest", async () => {
    const digest = await client.putManifest(REPO, "fn-1", manifest);
    expect(await client.getManifest(REPO, digest)).toEqual({ ...manifest, digest });
  });

  it("security 4: refuses a manifest that is not the one of its digest", async () => {
    const digest = sha256Digest(Buffer.from("wanted"));
    registry.intercept = status(200, { "content-type": MEDIA_TYPES.manifest, "docker-content-digest": digest }, "{}");
    await expect(client.getManifest(REPO, digest)).rejects.toThrow(RegistryLied);
  });

  const immutable: Intercept = (request, response) =>
    request.method === "PUT" &&
    status(400, {}, '{"errors":[{"code":"TAG_INVALID","message":"Nein."}]}')(request, response);

  it("D17: (a) an immutable tag that holds the same digest is success", async () => {
    const digest = await client.putManifest(REPO, "fn-1", manifest);
    registry.intercept = immutable;
    expect(await client.putManifest(REPO, "fn-1", manifest)).toBe(digest);
  });

  it("D17: (b) an immutable tag that holds another digest is a terminal error without a storm", async () => {
    await client.putManifest(REPO, "fn-1", manifest);
    registry.intercept = immutable;
    const before = registry.requests.length;
    const error = await client
      .putManifest(REPO, "fn-1", { ...manifest, bytes: Buffer.from("{}") })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RegistryRefused);
    expect(error).toMatchObject({ codes: ["TAG_INVALID"], retryable: false });
    expect(registry.requests.length - before).toBe(2);
  });

  it("deletes by digest, says when it was gone, and passes on that deletes are off", async () => {
    const digest = await client.putManifest(REPO, "fn-1", manifest);
    expect(await client.deleteManifest(REPO, digest)).toBe(true);
    expect(await client.deleteManifest(REPO, digest)).toBe(false);
    registry.intercept = status(405);
    await expect(client.deleteManifest(REPO, digest)).rejects.toMatchObject({ name: "RegistryRefused", status: 405 });
  });

  it("lists tags over pages, and none of a repository that is not there", async () => {
    for (let i = 0; i < 1003; i++) registry.manifests(REPO).set(`t${i}`, manifest);
    const tags: string[] = [];
    for await (const tag of client.listTags(REPO)) tags.push(tag);
    expect(tags).toHaveLength(1003);
    registry.intercept = status(404);
    for await (const tag of client.listTags("fn/none")) throw new Error(`unexpected ${tag}`);
  });

  it("stops when pages repeat", async () => {
    registry.intercept = status(200, { link: `</v2/${REPO}/tags/list?n=1>; rel="next"` }, '{"tags":["a"]}');
    const read = async () => {
      for await (const _tag of client.listTags(REPO));
    };
    await expect(read()).rejects.toThrow(RegistryLied);
  });
});

describe("faults", () => {
  it("tells a registry that is away from one that refuses", async () => {
    await registry.close();
    await expect(client.check()).rejects.toThrow(RegistryUnavailable);
  });

  it("gives up at once when the caller does", async () => {
    registry.intercept = () => true;
    const giveUp = new AbortController();
    const reading = client.getManifest(REPO, "latest", giveUp.signal);
    giveUp.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });

  it("names what the registry said, bounded", async () => {
    registry.intercept = status(403, {}, JSON.stringify({ errors: [{ code: "DENIED", message: "x".repeat(9000) }] }));
    const error = (await client.getManifest(REPO, "latest").catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(RegistryDenied);
    expect(error.message).toMatch(/answered 403: DENIED x+/);
    expect(error.message.length).toBeLessThan(600);
  });

  it("says that something is not there", async () => {
    await expect(client.getManifest(REPO, "latest")).rejects.toThrow(RegistryNotFound);
  });
});

// eslint-disable-next-line @typescript-eslint/require-await -- a stream that fails needs an async source
async function* failingChunks(): AsyncGenerator<Buffer> {
  yield blob;
  throw new Error("the store went away");
}
