import { Readable } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { RegistryNotFound, type BuildRequest, type BuildStrategy, type RegistryClient } from "@sless/images";
import { BASE_IMAGE, CODE_DIGEST, TENANT_NAMESPACE, uidOf } from "@sless/testing";
import { createImageBuilder, type ImageRequest } from "./image-builder.js";

const functionUid = uidOf("Function", "hello");
const request: ImageRequest = {
  tenant: TENANT_NAMESPACE,
  functionName: "hello",
  functionUid,
  codeDigest: CODE_DIGEST,
  baseImage: BASE_IMAGE,
};
const repository = `sless/${TENANT_NAMESPACE}`;
const digest = `sha256:${"d".repeat(64)}`;
const own = `pull.test/${repository}@${digest}`;
const marks = {
  "org.opencontainers.image.base.name": BASE_IMAGE,
  "sless.kube5s.ru/code-digest": CODE_DIGEST,
  "sless.kube5s.ru/function-uid": functionUid,
};
const signal = new AbortController().signal;

const setUp = (annotations?: Record<string, string>) => {
  const requests: BuildRequest[] = [];
  const deleted: string[] = [];
  const strategy: BuildStrategy = {
    name: "layers",
    accepts: () => true,
    key: () => "key",
    build: async (asked) => {
      requests.push(asked);
      await asked.code.openArtifact();
      return { image: "x", repository: asked.repository, digest, cached: false, layers: [], timings: {}, warnings: [] };
    },
  };
  const registry = {
    host: "registry.test",
    getManifest: () => {
      if (!annotations) return Promise.reject(new RegistryNotFound("gone"));
      return Promise.resolve({ bytes: Buffer.from(JSON.stringify({ annotations })) });
    },
    deleteManifest: (where: string, what: string) => Promise.resolve(deleted.push(`${where}@${what}`) > 0),
  } as unknown as RegistryClient;
  const keys: string[] = [];
  const artifacts = {
    get: (key: string) => {
      keys.push(key);
      return Promise.resolve({ stream: Readable.from([]), size: 0 });
    },
  };
  const platform = { os: "linux", architecture: "amd64" };
  const builder = createImageBuilder({
    strategy,
    registry,
    artifacts,
    prefix: "sless",
    pullHost: "pull.test",
    platform,
  });
  return { builder, requests, deleted, keys };
};

describe("createImageBuilder", () => {
  it("security 3, 4: builds from the computed key into the tenant's repository, and names the image as nodes do", async () => {
    const { builder, requests, keys } = setUp();
    expect(await builder.build(request, undefined, signal)).toMatchObject({ image: own });
    expect(keys).toEqual([`${TENANT_NAMESPACE}/${functionUid}/${CODE_DIGEST}.tar.gz`]);
    expect(requests[0]).toMatchObject({ repository, base: BASE_IMAGE });
  });

  it("security 5: takes a recorded image whose manifest proves it", async () => {
    const { builder, requests } = setUp(marks);
    await builder.build(request, own, signal);
    expect(requests[0]?.recordedDigest).toBe(digest);
  });

  it.each<[string, string | undefined, Record<string, string> | undefined]>([
    ["without a record", undefined, marks],
    ["of another registry", own.replace("pull.test", "evil.test"), marks],
    ["of another tenant's repository", own.replace(TENANT_NAMESPACE, "sless-fedcba9876543210"), marks],
    ["that is no reference", "whatever", marks],
    ["by tag", `pull.test/${repository}:latest`, marks],
    ["of other code", own, { ...marks, "sless.kube5s.ru/code-digest": "a".repeat(64) }],
    ["of another function", own, { ...marks, "sless.kube5s.ru/function-uid": "other" }],
    ["on another base", own, { ...marks, "org.opencontainers.image.base.name": "other" }],
    ["that is gone", own, undefined],
  ])("security 5: builds anew an image %s", async (_name, recorded, annotations) => {
    const { builder, requests } = setUp(annotations);
    await builder.build(request, recorded, signal);
    expect(requests[0]?.recordedDigest).toBeUndefined();
  });

  it("removes only images of the tenant's own repository", async () => {
    const { builder, deleted } = setUp();
    await builder.remove(TENANT_NAMESPACE, own, signal);
    await builder.remove("sless-fedcba9876543210", own, signal);
    await builder.remove(TENANT_NAMESPACE, "evil.test/x@sha256:00", signal);
    expect(deleted).toEqual([`${repository}@${digest}`]);
  });
});
