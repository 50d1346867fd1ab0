import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createRegistry, type Registry } from "./registry.js";

const credentials = { username: "sless", password: "s3cret" };
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const digestOf = (body: string | Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;

let dataDir: string;
let registry: Registry;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "registry-"));
  registry = await createRegistry({ dataDir, credentials, maxBlobBytes: 1024 * 1024 });
});
afterEach(async () => {
  await registry.close();
  await rm(dataDir, { recursive: true, force: true });
});

interface Call {
  method?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}
const call = (path: string, { method = "GET", body, headers = {} }: Call = {}): Promise<Response> =>
  fetch(new URL(path, registry.url), {
    method,
    headers: { Authorization: `Basic ${Buffer.from("sless:s3cret").toString("base64")}`, ...headers },
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
  });
const codeOf = async (res: Response): Promise<string> =>
  ((await res.json()) as { errors: { code: string }[] }).errors[0]?.code ?? "";

const pushBlob = async (repository: string, body: string): Promise<string> => {
  const digest = digestOf(body);
  const res = await call(`/v2/${repository}/blobs/uploads/?digest=${digest}`, { method: "POST", body });
  expect(res.status).toBe(201);
  return digest;
};
const manifestOf = (config: string, layers: string[]): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: config, size: 1 },
    layers: layers.map((digest) => ({ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest, size: 1 })),
  });
const putManifest = (path: string, body: string): Promise<Response> =>
  call(path, { method: "PUT", body, headers: { "Content-Type": MANIFEST } });

describe("login", () => {
  it.each([
    ["none", undefined],
    ["a wrong password", `Basic ${Buffer.from("sless:other").toString("base64")}`],
    ["another scheme", "Bearer s3cret"],
  ])("security 31: refuses %s with a challenge", async (_, authorization) => {
    const res = await fetch(`${registry.url}/v2/`, authorization ? { headers: { Authorization: authorization } } : {});
    expect(res.status).toBe(401);
    expect(res.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
    expect(await codeOf(res)).toBe("UNAUTHORIZED");
  });
});

describe("blobs", () => {
  it("takes a whole upload and serves it, in parts too", async () => {
    const digest = await pushBlob("a/b", "hello blob");
    const whole = await call(`/v2/a/b/blobs/${digest}`);
    expect(await whole.text()).toBe("hello blob");
    const part = await call(`/v2/a/b/blobs/${digest}`, { headers: { Range: "bytes=6-" } });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 6-9/10", "blob"]);
    const beyond = await call(`/v2/a/b/blobs/${digest}`, { headers: { Range: "bytes=50-60" } });
    expect(beyond.status).toBe(416);
    const head = await call(`/v2/a/b/blobs/${digest}`, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe("10");
  });

  it("takes chunks, tells the offset and refuses a chunk out of order", async () => {
    const start = await call("/v2/a/blobs/uploads/", { method: "POST" });
    const location = start.headers.get("location") ?? "";
    const chunk = (body: string, range: string) =>
      call(location, { method: "PATCH", body, headers: { "Content-Range": range } });
    expect((await chunk("hello ", "0-5")).headers.get("range")).toBe("0-5");
    expect((await chunk("late", "9-12")).status).toBe(416);
    expect((await call(location)).headers.get("range")).toBe("0-5");
    expect((await chunk("chunks", "6-11")).status).toBe(202);
    const end = await call(`${location}?digest=${digestOf("hello chunks")}`, { method: "PUT" });
    expect(end.status).toBe(201);
    expect(await (await call(`/v2/a/blobs/${digestOf("hello chunks")}`)).text()).toBe("hello chunks");
  });

  it("hashes while it reads and keeps nothing of a wrong digest", async () => {
    const res = await call(`/v2/a/blobs/uploads/?digest=${digestOf("other")}`, { method: "POST", body: "this" });
    expect([res.status, await codeOf(res)]).toEqual([400, "DIGEST_INVALID"]);
    expect((await call(`/v2/a/blobs/${digestOf("this")}`)).status).toBe(404);
    expect(await readdir(join(dataDir, "uploads"))).toEqual([]);
  });

  it("stops a blob that grows beyond the limit", async () => {
    const res = await call("/v2/a/blobs/uploads/", { method: "POST" });
    const patch = await call(res.headers.get("location") ?? "", {
      method: "PATCH",
      body: Buffer.alloc(1024 * 1024 + 1),
    });
    expect([patch.status, await codeOf(patch)]).toEqual([413, "SIZE_INVALID"]);
  });

  it("security 4: shows a blob only in the repositories that hold it, and mounts it on demand", async () => {
    const digest = await pushBlob("tenant-a", "shared");
    expect((await call(`/v2/tenant-b/blobs/${digest}`, { method: "HEAD" })).status).toBe(404);
    const wrong = await call(`/v2/tenant-b/blobs/uploads/?mount=${digest}&from=tenant-c`, { method: "POST" });
    expect(wrong.status).toBe(202);
    const mounted = await call(`/v2/tenant-b/blobs/uploads/?mount=${digest}&from=tenant-a`, { method: "POST" });
    expect(mounted.status).toBe(201);
    expect(await (await call(`/v2/tenant-b/blobs/${digest}`)).text()).toBe("shared");
  });

  it.each(["../etc", "a/../../b", "_layers", "A", "a//b", "a/.b", "%2e%2e/x"])("refuses the name %s", async (name) => {
    const path = `/v2/${name}/blobs/sha256:${"0".repeat(64)}`;
    // Neither fetch nor URL may tidy the path up before it is sent.
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(registry.url);
      const auth = "sless:s3cret";
      request({ hostname, port, path, auth, agent: false }, (res) => resolve(res.resume().statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(400);
  });
});

describe("manifests", () => {
  it("is stored only when its blobs are there, and answers by tag and digest", async () => {
    const config = await pushBlob("app", "{}");
    const missing = await putManifest("/v2/app/manifests/v1", manifestOf(config, [digestOf("nowhere")]));
    expect([missing.status, await codeOf(missing)]).toEqual([404, "MANIFEST_BLOB_UNKNOWN"]);

    const body = manifestOf(config, [await pushBlob("app", "layer")]);
    const put = await putManifest("/v2/app/manifests/v1", body);
    expect([put.status, put.headers.get("docker-content-digest")]).toEqual([201, digestOf(body)]);
    for (const reference of ["v1", digestOf(body)]) {
      const got = await call(`/v2/app/manifests/${reference}`);
      expect([got.headers.get("content-type"), await got.text()]).toEqual([MANIFEST, body]);
    }
    expect(await (await call("/v2/app/tags/list")).json()).toEqual({ name: "app", tags: ["v1"] });
  });

  it.each([
    ["another digest in the path", `sha256:${"0".repeat(64)}`, MANIFEST, "DIGEST_INVALID"],
    ["a media type it does not know", "v1", "application/json", "MANIFEST_INVALID"],
    ["a tag beyond the grammar", "-bad", MANIFEST, "TAG_INVALID"],
  ])("refuses %s", async (_, reference, type, code) => {
    const body = manifestOf(await pushBlob("app", "{}"), []).replace(MANIFEST, type);
    const path = `/v2/app/manifests/${reference}`;
    const res = await call(path, { method: "PUT", body, headers: { "Content-Type": type } });
    expect([res.status, await codeOf(res)]).toEqual([400, code]);
  });

  it("goes with its tags when deleted by digest, and alone by tag", async () => {
    const body = manifestOf(await pushBlob("app", "{}"), []);
    for (const tag of ["v1", "v2", "v3"]) await putManifest(`/v2/app/manifests/${tag}`, body);
    expect((await call("/v2/app/manifests/v1", { method: "DELETE" })).status).toBe(202);
    expect((await call("/v2/app/manifests/v2")).status).toBe(200);
    expect((await call(`/v2/app/manifests/${digestOf(body)}`, { method: "DELETE" })).status).toBe(202);
    const gone = await call("/v2/app/manifests/v2");
    expect([gone.status, await codeOf(gone)]).toEqual([404, "MANIFEST_UNKNOWN"]);
    expect(await (await call("/v2/app/tags/list")).json()).toEqual({ name: "app", tags: [] });
  });

  it("pages the catalog and the tags", async () => {
    for (const name of ["a", "b/c", "d"]) {
      await putManifest(`/v2/${name}/manifests/v1`, manifestOf(await pushBlob(name, "{}"), []));
    }
    const first = await call("/v2/_catalog?n=2");
    expect(await first.json()).toEqual({ repositories: ["a", "b/c"] });
    const next = /<(.*)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(await (await call(next)).json()).toEqual({ repositories: ["d"] });
  });
});

describe("garbage", () => {
  it("goes when unreferenced and older than the grace, per repository", async () => {
    const config = await pushBlob("app", "{}");
    const used = await pushBlob("app", "used");
    const stray = await pushBlob("app", "stray");
    await call(`/v2/other/blobs/uploads/?mount=${used}&from=app`, { method: "POST" });
    await putManifest("/v2/app/manifests/v1", manifestOf(config, [used]));

    expect(await registry.collectGarbage({ graceMs: 60_000 })).toMatchObject({ unlinked: 0, removedBlobs: 0 });
    const report = await registry.collectGarbage({ graceMs: -1 });
    expect(report).toEqual({ unlinked: 2, removedBlobs: 1, removedBytes: 5 });
    expect((await call(`/v2/app/blobs/${stray}`)).status).toBe(404);
    expect((await call(`/v2/app/blobs/${used}`)).status).toBe(200);
    expect((await call(`/v2/other/blobs/${used}`)).status).toBe(404);
  });
});

describe("a restart", () => {
  it("keeps what was answered and forgets open uploads", async () => {
    const digest = await pushBlob("app", "kept");
    const open = await call("/v2/app/blobs/uploads/", { method: "POST" });
    await registry.close();
    registry = await createRegistry({ dataDir, credentials });
    expect(await (await call(`/v2/app/blobs/${digest}`)).text()).toBe("kept");
    const patch = await call(open.headers.get("location") ?? "", { method: "PATCH", body: "x" });
    expect([patch.status, await codeOf(patch)]).toEqual([404, "BLOB_UPLOAD_UNKNOWN"]);
  });
});
