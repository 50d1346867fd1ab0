import { readdirSync } from "node:fs";
import { request as rawRequest } from "node:http";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  ANNOTATIONS,
  FUNCTION_VERSIONS,
  FUNCTIONS as FUNCTION_KIND,
  LABELS,
  versionName,
  type Function,
  type FunctionVersion,
} from "@sless/contracts";
import { eventually } from "@sless/kube/testing";
import { buildZip } from "@sless/testing";
import AdmZip from "adm-zip";
import { startApiFixture, type Answer, type ApiFixture, type CallOptions } from "../testing/api-fixture.js";
import { findEntrypointProblem } from "./entrypoint.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const ZIP = { "content-type": "application/zip" };

const zipOf = (files: Record<string, string>): Buffer => {
  const zip = new AdmZip();
  for (const [path, text] of Object.entries(files)) zip.addFile(path, Buffer.from(text));
  return zip.toBuffer();
};
/** A zip of many empty files, made without a library since those take seconds. */
const zipOfEmptyFiles = (count: number): Buffer => {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  for (let index = 0; index < count; index++) {
    const name = Buffer.from(`f${String(index).padStart(6, "0")}`);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(index * (30 + name.length), 42);
    locals.push(local, name);
    entries.push(entry, name);
  }
  const [body, directory] = [Buffer.concat(locals), Buffer.concat(entries)];
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(body.length, 16);
  return Buffer.concat([body, directory, end]);
};
const CODE = zipOf({ "index.js": "exports.handler = () => 'hello';" });
const OTHER = zipOf({ "index.js": "exports.handler = () => 'other';" });

const listUploadFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("sless-upload-"));
/** What an API that was killed on this machine has left is not ours. */
const foreignFolders = new Set(listUploadFolders());
const uploadFolders = (): string[] => listUploadFolders().filter((name) => !foreignFolders.has(name));

describe("uploads", () => {
  let api: ApiFixture;
  let token: string;
  const create = async (name: string): Promise<Answer> =>
    api.call("POST", FUNCTIONS, { token, json: { name, runtime: "nodejs20", entrypoint: "index.handler" } });
  const upload = (
    name: string,
    body: CallOptions["body"],
    query = "",
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    api.call("POST", `${FUNCTIONS}/${name}/upload${query}`, { token, body, headers: { ...ZIP, ...headers } });

  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
    await create("bad");
  });
  afterAll(() => api.close());

  it("stores the canonical layer and makes it the function's code", async () => {
    const { body: fn } = await create("good");
    const { status, body } = await upload("good", CODE);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      files: 1,
      staged: false,
      unchanged: false,
      function: { code_digest: body.code_digest },
    });
    expect(api.artifacts.objects.has(`${fn.namespace}/${fn.uid}/${body.code_digest}.tar.gz`)).toBe(true);
    expect(await upload("good", CODE)).toMatchObject({ body: { unchanged: true, code_digest: body.code_digest } });
  });

  it("takes a body of unknown length", async () => {
    await create("chunked");
    expect(await upload("chunked", Readable.from([CODE.subarray(0, 20), CODE.subarray(20)]))).toMatchObject({
      status: 200,
    });
  });

  it("stages code, which a later PATCH activates together with settings", async () => {
    await create("staged");
    const { body: staged } = await upload("staged", CODE, "?stage=true");
    expect(staged).toMatchObject({ staged: true });
    expect(staged).not.toHaveProperty("function");
    const { body: before } = await api.call("GET", `${FUNCTIONS}/staged`, { token });
    expect(before).not.toHaveProperty("code_digest");
    const json = { code_digest: staged.code_digest, memory_mb: 256 };
    const { body } = await api.call("PATCH", `${FUNCTIONS}/staged`, { token, json });
    expect(body).toMatchObject(json);
  });

  it("refuses a digest that was not uploaded for this function", async () => {
    await create("mine");
    await create("yours");
    const { body: staged } = await upload("yours", CODE, "?stage=true");
    const answer = await api.call("PATCH", `${FUNCTIONS}/mine`, { token, json: { code_digest: staged.code_digest } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: "/code_digest" }] } });
  });

  it("security 3: s3Key can't be named by REST", async () => {
    const answer = await api.call("PATCH", `${FUNCTIONS}/bad`, { token, json: { s3_key: "a/b/c", s3Key: "a/b/c" } });
    expect(answer).toMatchObject({ status: 400 });
  });

  const bombOf = (): Buffer => zipOf({ "index.js": "0".repeat(40 << 20) });
  const BAD: readonly { name: string; zip: () => Buffer; says: RegExp; status?: number }[] = [
    { name: "no zip at all", zip: () => Buffer.from("hello"), says: /zip/i },
    { name: "an empty body", zip: () => Buffer.alloc(0), says: /empty/ },
    { name: "an empty zip", zip: () => new AdmZip().toBuffer(), says: /empty|no file/i },
    { name: "a truncated zip", zip: () => CODE.subarray(0, CODE.length - 30), says: /truncated|cut|end|zip/i },
    { name: "a bomb", zip: bombOf, says: /more than 200 times its size/ },
    {
      name: "a path out of the code",
      zip: () => buildZip([{ name: "../evil.js", content: Buffer.from("x") }]),
      says: /evil/,
    },
    {
      name: "one name twice",
      zip: () =>
        buildZip([
          { name: "index.js", content: Buffer.from("1") },
          { name: "index.js", content: Buffer.from("2") },
        ]),
      says: /twice|more than once|duplicate/i,
    },
    {
      name: "25,000 entries",
      zip: () => zipOfEmptyFiles(25_000),
      says: /entries|files|larger/i,
    },
    { name: "a zip without the entrypoint's file", zip: () => zipOf({ "main.js": "" }), says: /index\.js.*main\.js/ },
    { name: "more than the limit", zip: () => Buffer.alloc((4 << 20) + 1, 1), says: /4194304/, status: 413 },
  ];
  it.each(BAD)("refuses $name and leaves nothing", async ({ zip, says, status = 400 }) => {
    const stored = api.artifacts.objects.size;
    const answer = await upload("bad", zip());
    expect(answer.body.detail).toMatch(says);
    expect(answer.status).toBe(status);
    expect(api.artifacts.objects.size).toBe(stored);
    expect(uploadFolders()).toEqual([]);
    expect((await api.call("GET", `${FUNCTIONS}/bad`, { token })).body).not.toHaveProperty("code_digest");
  });

  it("refuses what grows above the limit without having said so", async () => {
    const chunks = Array.from({ length: 80 }, () => Buffer.alloc(64 * 1024, 1));
    expect(await upload("bad", Readable.from(chunks))).toMatchObject({ status: 413 });
    expect(uploadFolders()).toEqual([]);
  });

  it.each([
    {
      name: "another media type",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      says: /application\/zip/,
    },
    { name: "a compressed body", headers: { "content-encoding": "gzip" }, says: /gzip/ },
  ])("refuses $name", async ({ headers, says }) => {
    const answer = await upload("bad", CODE, "", headers);
    expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringMatching(says) } });
  });

  it("removes what a client left that hung up", async () => {
    await create("hangup");
    const url = new URL(`${FUNCTIONS}/hangup/upload`, api.replica.url);
    const req = rawRequest(url, {
      method: "POST",
      headers: { ...ZIP, authorization: `Bearer ${token}`, "content-length": 500_000 },
    });
    req.on("error", () => undefined);
    req.write(Buffer.alloc(100_000, 1));
    await eventually("the upload has begun", () => uploadFolders().length > 0);
    req.destroy();
    await eventually("its folder is gone", () => uploadFolders().length === 0);
    expect((await api.call("GET", `${FUNCTIONS}/hangup`, { token })).body).not.toHaveProperty("code_digest");
  });

  it("answers 404 for a function that is not there, and 503 while the store is away", async () => {
    expect(await upload("nobody", CODE)).toMatchObject({ status: 404 });
    await create("unlucky");
    api.artifacts.away = true;
    const answer = await upload("unlucky", CODE);
    api.artifacts.away = false;
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": expect.any(String) } });
    expect((await api.call("GET", `${FUNCTIONS}/unlucky`, { token })).body).not.toHaveProperty("code_digest");
  });

  it("security 9: one tenant's uploads leave room for another's", async () => {
    await create("slow");
    const bob = api.issuer.token("bob");
    await api.call("POST", FUNCTIONS, {
      token: bob,
      json: { name: "quick", runtime: "nodejs20", entrypoint: "index.handler" },
    });
    const held = Array.from({ length: 4 }, () => {
      const url = new URL(`${FUNCTIONS}/slow/upload`, api.replica.url);
      const req = rawRequest(url, {
        method: "POST",
        headers: { ...ZIP, authorization: `Bearer ${token}`, "content-length": 1000 },
      });
      req.on("error", () => undefined);
      req.write("x");
      return req;
    });
    await eventually("four uploads are held", () => uploadFolders().length === 4);
    expect(await upload("slow", CODE)).toMatchObject({ status: 429, headers: { "retry-after": "10" } });
    const path = `${FUNCTIONS}/quick/upload`;
    expect(await api.call("POST", path, { token: bob, body: CODE, headers: ZIP })).toMatchObject({ status: 200 });
    held.forEach((req) => req.destroy());
    await eventually("they are gone", () => uploadFolders().length === 0);
  });

  describe("rollback", () => {
    let fn: Function;
    beforeAll(async () => {
      const { body: made } = await create("rolled");
      const { body } = await upload("rolled", CODE);
      const key = { namespace: made.namespace as string, name: "rolled" };
      fn = await api.cluster.kube.get<Function>(FUNCTION_KIND, key);
      for (const [version, phase] of [
        [1, "ScaledDown"],
        [2, "Failed"],
        [3, "Ready"],
      ] as const) {
        const name = versionName("rolled", version);
        await api.cluster.kube.create<FunctionVersion>(FUNCTION_VERSIONS, {
          apiVersion: "sless.kube5s.ru/v1alpha1",
          kind: "FunctionVersion",
          metadata: { name, namespace: key.namespace, labels: { [LABELS.functionUid]: made.uid } },
          spec: {
            functionName: "rolled",
            functionUid: made.uid,
            version,
            codeDigest: body.code_digest,
            runtime: "nodejs20",
            baseImage: `r.test/b@sha256:${"a".repeat(64)}`,
            entrypoint: "index.handler",
            memoryMB: 128,
            timeoutSec: 30,
            env: {},
            replicas: 1,
          },
        });
        await api.cluster.kube.patchStatus(FUNCTION_VERSIONS, { ...key, name }, { phase, message: phase });
      }
      const third = await api.cluster.kube.get(FUNCTION_VERSIONS, { ...key, name: versionName("rolled", 3) });
      const target = {
        version: 3,
        percent: 100,
        name: third.metadata.name,
        uid: third.metadata.uid,
        timeoutSec: 30,
        concurrency: 1,
      };
      await api.cluster.kube.patchStatus(FUNCTION_KIND, key, { traffic: [target], latestVersion: 3, readyVersion: 3 });
    });
    const rollback = (json?: object) =>
      api.call("POST", `${FUNCTIONS}/rolled/rollback`, { token, ...(json && { json }) });
    const read = () =>
      api.cluster.kube.get<Function>(FUNCTION_KIND, { namespace: fn.metadata.namespace ?? "", name: "rolled" });

    it("lists versions newest first with their share", async () => {
      const { body } = await api.call("GET", `${FUNCTIONS}/rolled/versions`, { token });
      expect(
        (body.items as { version: number; percent: number }[]).map((each) => [each.version, each.percent]),
      ).toEqual([
        [3, 100],
        [2, 0],
        [1, 0],
      ]);
    });

    it("goes back to the last good version, past failed ones, and pins it", async () => {
      expect(await rollback()).toMatchObject({
        status: 200,
        body: { from: 3, to: 1, function: { traffic: [{ version: 1, percent: 100 }] } },
      });
      expect((await read()).metadata.annotations).toHaveProperty([ANNOTATIONS.pinnedBy]);
    });

    it("keeps the pin through a change of settings", async () => {
      await api.call("PATCH", `${FUNCTIONS}/rolled`, { token, json: { memory_mb: 256 } });
      const json = { runtime: "nodejs20", entrypoint: "index.handler", memory_mb: 300 };
      const { body } = await api.call("PUT", `${FUNCTIONS}/rolled`, { token, json });
      expect(body.traffic).toEqual([{ version: 1, percent: 100 }]);
    });

    it("drops the pin when the code changes", async () => {
      const { body } = await upload("rolled", OTHER);
      expect(body.function).not.toHaveProperty("traffic");
      expect((await read()).metadata.annotations ?? {}).not.toHaveProperty([ANNOTATIONS.pinnedBy]);
    });

    it("keeps a split that the user wrote when the code changes", async () => {
      await rollback({ version: 1, reason: "why not" });
      const traffic = [
        { version: 3, percent: 80 },
        { version: 1, percent: 20 },
      ];
      await api.call("PATCH", `${FUNCTIONS}/rolled`, { token, json: { traffic } });
      expect((await upload("rolled", CODE)).body.function.traffic).toEqual(traffic);
    });

    it("refuses versions that are not there or never were ready", async () => {
      expect(await rollback({ version: 9 })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("3, 2, 1") },
      });
      expect(await rollback({ version: 2 })).toMatchObject({ status: 409, body: { reason: "NotServing" } });
    });
  });
});

describe("entrypoints", () => {
  it.each([
    { entrypoint: "index.handler", family: "nodejs", files: ["index.mjs"], ok: true },
    { entrypoint: "src/app.handler", family: "nodejs", files: ["src/app.js"], ok: true },
    { entrypoint: "hello.handler", family: "nodejs", files: ["hello/index.js"], ok: true },
    { entrypoint: "pkg/sub/mod.fn", family: "python", files: ["pkg/sub/mod.py"], ok: true },
    { entrypoint: "pkg.sub.mod.fn", family: "python", files: ["pkg/sub/mod.py"], ok: true },
    { entrypoint: "index.handler", family: "nodejs", files: ["src/index.js"], ok: false },
    { entrypoint: "main.handler", family: "python", files: ["main.js"], ok: false },
  ] as const)("R27: $entrypoint in $files: $ok", ({ entrypoint, family, files, ok }) => {
    expect(findEntrypointProblem(entrypoint, family, files) === undefined).toBe(ok);
  });
});
