import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { artifactKey } from "@sless/contracts";
import { startFakeS3, type FakeS3, type FakeS3Options } from "@sless/testing";
import type { ArtifactStoreConfig } from "./config.js";
import { ArtifactNotFound, ArtifactStoreRefused, ArtifactStoreUnavailable } from "./errors.js";
import { createArtifactStore, type ArtifactStore } from "./store.js";

const UID = "3f6b1f9e-0000-4000-8000-000000000001";
const KEY = artifactKey("sless-0123456789abcdef", UID, "a".repeat(64));
const bytes = Buffer.from("a layer");

let s3: FakeS3;
let store: ArtifactStore;
const open: ArtifactStore[] = [];
beforeEach(async () => {
  s3 = await startFakeS3();
  store = connect();
});
afterEach(async () => {
  open.splice(0).forEach((each) => each.close());
  await s3.close();
});

function connect(overrides: Partial<ArtifactStoreConfig> = {}): ArtifactStore {
  const { url: endpoint, region, bucket, accessKeyId, secretAccessKey } = s3;
  const made = createArtifactStore({ endpoint, region, bucket, accessKeyId, secretAccessKey, ...overrides });
  open.push(made);
  return made;
}
async function restart(options: FakeS3Options): Promise<void> {
  await s3.close();
  s3 = await startFakeS3(options);
  store = connect();
}
const fail = (response: ServerResponse, status: number, code: string): true => {
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  return true;
};
async function keysBelow(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

describe("D35: a strict store takes", () => {
  it.each([
    ["bytes", () => ({ bytes })],
    [
      "a stream of known length",
      () => ({ stream: Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]), contentLength: bytes.length }),
    ],
  ] as const)("%s, without checksums or trailers, and gives them back", async (_name, body) => {
    expect(await store.put(KEY, body())).toEqual({ size: bytes.length });
    const { stream, size } = await store.get(KEY);
    expect(await buffer(stream)).toEqual(bytes);
    expect(size).toBe(bytes.length);
    const names = s3.requests.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => name.includes("checksum") || name.includes("trailer"))).toEqual([]);
  });

  it("a file, opened again when the store fails in between", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sless-artifacts-"));
    const file = join(folder, "layer.tar.gz");
    writeFileSync(file, Buffer.alloc(3_000_000, "layer"));
    let failures = 2;
    s3.intercept = (_request, response) => failures-- > 0 && fail(response, 503, "SlowDown");
    await store.put(KEY, { file });
    expect(s3.objects.get(KEY)?.length).toBe(3_000_000);
    rmSync(folder, { recursive: true });
  });

  it("deletes of many one by one where bulk deletes need an MD5", async () => {
    for (let i = 0; i < 20; i++) s3.objects.set(`p/${i}`, bytes);
    const keys = await keysBelow("p/");
    expect(await store.deleteMany(keys)).toEqual({ deleted: expect.arrayContaining(keys), failed: [] });
    expect(s3.objects.size).toBe(0);
  });

  it("only signatures of its own region", async () => {
    const elsewhere = connect({ region: "us-east-1" });
    const error = await elsewhere.put(KEY, { bytes }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ArtifactStoreRefused);
    expect((error as Error).message).toMatch(/400 AuthorizationHeaderMalformed; check its endpoint, region/);
  });
});

describe("deleteMany", () => {
  it("uses bulk deletes where they work, a thousand keys each", async () => {
    await restart({ demandContentMd5: false });
    // The SDK has to send a checksum with a bulk delete; a store that takes it is the other kind.
    s3.intercept = (request) => {
      for (const name of Object.keys(request.headers)) if (name.includes("checksum")) request.headers[name] = undefined;
      return false;
    };
    for (let i = 0; i < 5; i++) s3.objects.set(`p/${i}`, bytes);
    const report = await store.deleteMany(await keysBelow("p/"));
    expect(report.deleted).toHaveLength(5);
    expect(s3.objects.size).toBe(0);
  });

  it("D35: tries a refused key again and reports it, never counting it as done", async () => {
    for (const key of ["p/a", "p/held"]) s3.objects.set(key, bytes);
    s3.intercept = ({ method, url }, response) =>
      method === "DELETE" && url.includes("held") && fail(response, 403, "AccessDenied");
    const { deleted, failed } = await store.deleteMany(["p/a", "p/held", "p/a"]);
    expect(deleted).toEqual(["p/a"]);
    expect(failed).toEqual([{ key: "p/held", reason: expect.stringContaining("403 AccessDenied") }]);
    expect(s3.objects.has("p/held")).toBe(true);
  });

  it("counts what is gone already as deleted", async () => {
    s3.intercept = ({ method }, response) => method === "DELETE" && fail(response, 404, "NoSuchKey");
    expect(await store.deleteMany(["p/gone"])).toEqual({ deleted: ["p/gone"], failed: [] });
  });
});

describe("list", () => {
  it("reads all pages, and only below the prefix", async () => {
    await restart({ pageSize: 3 });
    for (let i = 0; i < 8; i++) s3.objects.set(`p/${i}`, bytes);
    s3.objects.set("q/other", bytes);
    expect(await keysBelow("p/")).toHaveLength(8);
  });

  it("stops when a store repeats a page", async () => {
    s3.intercept = (_request, response) => {
      response.end(
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
      );
      return true;
    };
    await expect(keysBelow("p/")).rejects.toThrow(/repeats a page/);
  });
});

describe("presigned URLs", () => {
  it("stand on the public endpoint and let a stranger put and get exactly one key", async () => {
    const published = connect({ endpoint: "http://internal.invalid:1", publicEndpoint: s3.url });
    const put = await published.presignPut(KEY, { expiresSec: 60 });
    expect(new URL(put).origin).toBe(s3.url);
    expect((await fetch(put, { method: "PUT", body: bytes })).status).toBe(200);
    const get = await published.presignGet(KEY, { expiresSec: 60 });
    expect(Buffer.from(await (await fetch(get)).arrayBuffer())).toEqual(bytes);
    const other = put.replace("a".repeat(64), "b".repeat(64));
    expect((await fetch(other, { method: "PUT", body: bytes })).status).toBe(403);
  });

  it("may fix the length of what is put", async () => {
    const put = await store.presignPut(KEY, { expiresSec: 60, contentLength: bytes.length });
    expect((await fetch(put, { method: "PUT", body: "longer than that" })).status).toBe(403);
    expect((await fetch(put, { method: "PUT", body: bytes })).status).toBe(200);
  });
});

describe("faults", () => {
  it("says that an object is not there", async () => {
    await expect(store.get(KEY)).rejects.toThrow(ArtifactNotFound);
    await expect(store.head(KEY)).rejects.toThrow(ArtifactNotFound);
    await expect(store.delete(KEY)).resolves.toBeUndefined();
    s3.objects.set(KEY, bytes);
    expect(await store.head(KEY)).toMatchObject({ key: KEY, size: bytes.length });
  });

  it("tells a missing bucket from a missing object", async () => {
    await expect(connect({ bucket: "other" }).put(KEY, { bytes })).rejects.toThrow(/bucket does not exist/);
  });

  it("refuses a wrong secret with advice, and names no credential", async () => {
    const error = (await connect({ secretAccessKey: "wr0ng" })
      .put(KEY, { bytes })
      .catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(ArtifactStoreRefused);
    expect(error.message).not.toContain("wr0ng");
  });

  it("calls a store that is away unavailable, which is worth another try", async () => {
    await s3.close();
    await expect(store.get(KEY)).rejects.toMatchObject({ name: "ArtifactStoreUnavailable", retryable: true });
    await expect(store.check()).rejects.toThrow(ArtifactStoreUnavailable);
  });

  it("stops after a bounded number of tries", async () => {
    s3.intercept = (_request, response) => fail(response, 500, "InternalError");
    await expect(store.put(KEY, { bytes })).rejects.toThrow(ArtifactStoreUnavailable);
    expect(s3.requests).toHaveLength(3);
  });

  it("does not wait for a store that says nothing", async () => {
    s3.intercept = () => true;
    const hasty = connect({ timeouts: { idle: 50, total: 400 }, maxAttempts: 1 });
    await expect(hasty.head(KEY)).rejects.toThrow(ArtifactStoreUnavailable);
  });

  it("ends a stream that falls silent half-way", async () => {
    s3.intercept = (_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half");
      return true;
    };
    const { stream } = await connect({ timeouts: { idle: 50 } }).get(KEY);
    await expect(buffer(stream)).rejects.toThrow();
  });

  it("gives up when the caller does", async () => {
    s3.intercept = () => true;
    const giveUp = new AbortController();
    const reading = store.head(KEY, { signal: giveUp.signal });
    giveUp.abort();
    await expect(reading).rejects.toThrow(ArtifactStoreUnavailable);
  });
});
