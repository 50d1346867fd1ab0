import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createS3, type S3Server } from "./s3.js";

const credentials = { accessKeyId: "sless", secretAccessKey: "s3cret" };
const Bucket = "artifacts";
let dataDir: string;
let s3: S3Server;
let client: S3Client;

const makeClient = (config: S3ClientConfig = {}): S3Client =>
  new S3Client({
    endpoint: s3.url,
    region: "ru-central1",
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
    ...config,
  });
const start = async (): Promise<void> => {
  s3 = await createS3({ dataDir, credentials, buckets: [Bucket], region: "ru-central1", maxObjectBytes: 8e6 });
  client = makeClient();
};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "s3-"));
  await start();
});
afterEach(async () => {
  client.destroy();
  await s3.close();
  await rm(dataDir, { recursive: true, force: true });
});

const put = (Key: string, Body: string | Buffer = "x") => client.send(new PutObjectCommand({ Bucket, Key, Body }));
const get = async (Key: string): Promise<string> =>
  (await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()) ?? "";
const failure = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no failure",
    (error: Error) => error.name,
  );

describe("objects, through the AWS SDK", () => {
  it("come back whole, with type, metadata and etag", async () => {
    const body = randomBytes(300_000);
    const ETag = `"${createHash("md5").update(body).digest("hex")}"`;
    const Key = "sless-abc/uid/a b+ü'(1)*.tar.gz";
    const answer = await client.send(
      new PutObjectCommand({
        Bucket,
        Key,
        Body: body,
        ContentType: "application/gzip",
        Metadata: { digest: "sha256:1" },
      }),
    );
    expect(answer.ETag).toBe(ETag);
    const got = await client.send(new GetObjectCommand({ Bucket, Key }));
    // Jest compares Buffers element by element, which takes seconds for these.
    expect(body.equals((await got.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
    expect(got).toMatchObject({
      ContentType: "application/gzip",
      Metadata: { digest: "sha256:1" },
      ContentLength: 300_000,
    });
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ETag, ContentLength: 300_000 });
    const part = await client.send(new GetObjectCommand({ Bucket, Key, Range: "bytes=10-19" }));
    expect(Buffer.from((await part.Body?.transformToByteArray()) ?? [])).toEqual(body.subarray(10, 20));
  });

  it.each(["WHEN_SUPPORTED", "WHEN_REQUIRED"] as const)("D35: a stream is taken with checksums %s", async (mode) => {
    const own = makeClient({ requestChecksumCalculation: mode, responseChecksumValidation: mode });
    const parts = Array.from({ length: 20 }, () => randomBytes(50_000));
    const Body = Readable.from(parts);
    await own.send(new PutObjectCommand({ Bucket, Key: "stream", Body, ContentLength: 1_000_000 }));
    const got = await own.send(new GetObjectCommand({ Bucket, Key: "stream" }));
    expect(Buffer.concat(parts).equals((await got.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
    own.destroy();
  });

  it("are replaced as a whole, and gone when deleted, one or many", async () => {
    await put("a", "one");
    await put("a", "two");
    expect(await get("a")).toBe("two");
    await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
    expect(await failure(get("a"))).toBe("NoSuchKey");
    await put("b&<c>");
    await put("d");
    const Objects = [{ Key: "b&<c>" }, { Key: "d" }, { Key: "never was" }];
    const { Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted?.map(({ Key }) => Key)).toEqual(["b&<c>", "d", "never was"]);
    expect((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });

  it("are listed in byte order, by pages, prefix and folder", async () => {
    for (const key of ["b/1", "a/2", "a/1", "a/sub/3", "Z", "ü"]) await put(key);
    const list = async (input: object) => client.send(new ListObjectsV2Command({ Bucket, ...input }));
    const keys: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await list({ MaxKeys: 2, ContinuationToken });
      keys.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ""));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
    expect(keys).toEqual(["Z", "a/1", "a/2", "a/sub/3", "b/1", "ü"]);
    const folder = await list({ Prefix: "a/", Delimiter: "/" });
    expect([folder.Contents?.map(({ Key }) => Key), folder.CommonPrefixes]).toEqual([
      ["a/1", "a/2"],
      [{ Prefix: "a/sub/" }],
    ]);
    const top: string[] = [];
    do {
      const page = await list({ Delimiter: "/", MaxKeys: 1, ContinuationToken });
      top.push(
        ...[
          ...(page.Contents ?? []).map(({ Key }) => Key),
          ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
        ].map(String),
      );
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
    expect(top).toEqual(["Z", "a/", "b/", "ü"]);
  });

  it("outlive a restart", async () => {
    await put("kept", "content");
    await s3.close();
    client.destroy();
    await start();
    expect(await get("kept")).toBe("content");
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: "kept" }))).ContentLength).toBe(7);
  });

  it("are created once only where a client asks for that", async () => {
    const create = () => client.send(new PutObjectCommand({ Bucket, Key: "once", Body: "x", IfNoneMatch: "*" }));
    await create();
    expect(await failure(create())).toBe("PreconditionFailed");
  });
});

describe("what does not fit leaves nothing", () => {
  const files = async (): Promise<string[]> =>
    (await readdir(join(dataDir, Bucket), { recursive: true, withFileTypes: true }))
      .filter((file) => file.isFile())
      .map(({ name }) => name);

  const untilFiles = async (count: number): Promise<void> => {
    const deadline = Date.now() + 10_000;
    while ((await files()).length !== count) {
      if (Date.now() > deadline) throw new Error(`not ${count} files within 10 s: ${(await files()).join()}`);
      await delay(10);
    }
  };

  it.each([
    ["a body beyond the limit", { Body: Buffer.alloc(8e6 + 1) }, "EntityTooLarge"],
    [
      "a body that is not what its md5 says",
      { Body: "x", ContentMD5: Buffer.alloc(16).toString("base64") },
      "BadDigest",
    ],
    ["a body that is not what its crc32 says", { Body: "x", ChecksumCRC32: "AAAAAA==" }, "BadDigest"],
  ])("%s", async (_, input, code) => {
    expect(await failure(client.send(new PutObjectCommand({ Bucket, Key: "k", ...input })))).toBe(code);
    expect(await files()).toEqual([]);
  });

  it("an upload whose client hangs up", async () => {
    const url = new URL(await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: "half" }), { expiresIn: 60 }));
    await new Promise<void>((resolve) => {
      const req = request(url, { method: "PUT", headers: { "Content-Length": 1000 } });
      req.on("error", () => resolve());
      req.write("some");
      void untilFiles(1).then(() => req.destroy(new Error("gone")));
    });
    await untilFiles(0);
    expect(await failure(get("half"))).toBe("NoSuchKey");
  });
});

describe("security 31: who may do it", () => {
  it.each([
    ["another access key", { credentials: { ...credentials, accessKeyId: "other" } }, "InvalidAccessKeyId"],
    ["another secret", { credentials: { ...credentials, secretAccessKey: "other" } }, "SignatureDoesNotMatch"],
    ["another region (D35)", { region: "us-east-1" }, "AuthorizationHeaderMalformed"],
  ])("%s is refused", async (_, config, code) => {
    const other = makeClient(config);
    expect(await failure(other.send(new PutObjectCommand({ Bucket, Key: "k", Body: "x" })))).toBe(code);
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: "absent" })))).toBe("NotFound");
    other.destroy();
  });

  it("a presigned URL does what it was signed for, as long as it says, and nothing else", async () => {
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: "signed" }), { expiresIn: 60 });
    const send = async (target: string, method = "PUT", headers = {}) => {
      const res = await fetch(target, { method, headers, ...(method === "PUT" ? { body: "by url" } : {}) });
      return [res.status, /<Code>(\w+)/.exec(await res.text())?.[1]];
    };
    expect(await send(url)).toEqual([200, undefined]);
    expect(await get("signed")).toBe("by url");
    expect(await send(url, "GET")).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await send(url.replace("/signed?", "/other?"))).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await send(url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"))).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await send(url, "PUT", { "x-amz-meta-added": "1" })).toEqual([403, "AccessDenied"]);
    expect(await send(url.split("?")[0] ?? "")).toEqual([403, "AccessDenied"]);
    const old = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: "signed" }), {
      expiresIn: 60,
      signingDate: new Date(Date.now() - 120_000),
    });
    expect(await send(old, "GET")).toEqual([403, "AccessDenied"]);
  });

  it.each(["../../outside", "/abs", "a/../b", "..", "a//b", "%2e%2e/x"])("the key %s stays a key", async (Key) => {
    await put(Key, "inside");
    expect(await get(Key)).toBe("inside");
    expect(await readdir(dataDir)).toEqual([Bucket]);
  });

  it("answers what it does not carry with 501", async () => {
    const multipart = new CreateMultipartUploadCommand({ Bucket, Key: "k" });
    expect(await failure(client.send(multipart))).toBe("NotImplemented");
    const copy = new CopyObjectCommand({ Bucket, Key: "k", CopySource: `${Bucket}/other` });
    expect(await failure(client.send(copy))).toBe("NotImplemented");
  });
});
