import { describe, expect, it } from "@jest/globals";
import { ConflictError, ForbiddenError, makeApiError, NotFoundError, ServerError } from "../errors.js";
import { configMaps, deployments } from "../resources.js";
import type { KubeObject, Resource } from "../object.js";
import { createFakeKubeClient } from "./fake-client.js";
import { isSelected } from "./fake-selection.js";

const KEY = { namespace: "n", name: "a" };

describe("failures ordered by a test", () => {
  it("hit the verb and kind named, until they are ended, and are recorded as asked for", async () => {
    const client = createFakeKubeClient();
    const end = client.failOn("apply", "ConfigMap");
    await expect(client.apply(configMaps, { metadata: KEY }, { fieldManager: "m" })).rejects.toThrow(ServerError);
    await client.apply(deployments, { metadata: KEY }, { fieldManager: "m" });
    end();
    await client.apply(configMaps, { metadata: KEY }, { fieldManager: "m" });
    expect(client.writes.map(({ verb, kind, key }) => `${verb} ${kind} ${key}`)).toEqual([
      "apply ConfigMap n/a",
      "apply Deployment n/a",
      "apply ConfigMap n/a",
    ]);
    expect(client.objects(configMaps)).toHaveLength(1);
  });

  it("can be any error, or depend on the object", async () => {
    const client = createFakeKubeClient();
    const quota = makeApiError("apply", { code: 403, reason: "Forbidden", message: "exceeded quota: q", causes: [] });
    client.failOn("create", "ConfigMap", (key) => (key === "n/a" ? quota : undefined));
    await expect(client.create(configMaps, { metadata: KEY })).rejects.toThrow(ForbiddenError);
    await client.create(configMaps, { metadata: { ...KEY, name: "b" } });
  });
});

describe("the status subresource", () => {
  const withStatus = { metadata: KEY, spec: { replicas: 1 }, status: { readyReplicas: 1 } };
  const things: Resource<KubeObject & { spec?: object; status?: object }> = { ...deployments, kind: "Thing" };

  it("is written by status calls alone, which write nothing else and raise no generation", async () => {
    const client = createFakeKubeClient();
    expect(await client.create(things, withStatus)).not.toHaveProperty("status");
    await client.patchStatus(things, KEY, { readyReplicas: 2 });
    const patched = await client.mergePatch(things, KEY, { spec: { replicas: 3 }, status: { readyReplicas: 9 } });
    expect(patched).toMatchObject({ spec: { replicas: 3 }, status: { readyReplicas: 2 }, metadata: { generation: 2 } });
    const applied = await client.applyStatus(
      things,
      { metadata: KEY, status: { phase: "Ready" } },
      { fieldManager: "m" },
    );
    expect(applied).toMatchObject({ status: { readyReplicas: 2, phase: "Ready" }, metadata: { generation: 2 } });
  });

  it("does not exist for kinds that have none", async () => {
    const client = createFakeKubeClient({ withoutStatusSubresource: ["Thing"] });
    await client.create(things, withStatus);
    const patched = await client.mergePatch(things, KEY, { status: { readyReplicas: 9 } });
    expect(patched.status).toEqual({ readyReplicas: 9 });
  });

  it("honours preconditions", async () => {
    const client = createFakeKubeClient();
    const { metadata } = client.seed(things, withStatus);
    await client.patchStatus(things, KEY, { x: 1 }, { resourceVersion: metadata.resourceVersion });
    const stale = client.patchStatus(things, KEY, { x: 2 }, { resourceVersion: metadata.resourceVersion });
    await expect(stale).rejects.toThrow(ConflictError);
  });
});

describe("what it hands out", () => {
  it("is the caller's own", async () => {
    const client = createFakeKubeClient();
    client.seed(configMaps, { metadata: KEY, data: { a: "1" } });
    Object.assign((await client.get(configMaps, KEY)).data ?? {}, { a: "changed" });
    expect((await client.get(configMaps, KEY)).data).toEqual({ a: "1" });
  });

  it("is refused as a rejection where it is not there", async () => {
    await expect(createFakeKubeClient().get(configMaps, KEY)).rejects.toThrow(NotFoundError);
  });
});

describe("selectors", () => {
  const object = { metadata: { namespace: "n", name: "a", labels: { app: "x", tier: "web" } } };

  it.each([
    ["app=x", true],
    ["app==x,tier!=db", true],
    ["app!=x", false],
    ["app", true],
    ["!other", true],
    ["!app", false],
    ["app in (x, y),tier notin (db,cache)", true],
    ["app in (y)", false],
  ])("label selector %s", (labelSelector, expected) => {
    expect(isSelected(object, { labelSelector })).toBe(expected);
  });

  it("fields: name and namespace, and no other in silence", () => {
    expect(isSelected(object, { fieldSelector: "metadata.name=a,metadata.namespace=n" })).toBe(true);
    expect(isSelected(object, { fieldSelector: "metadata.name=b" })).toBe(false);
    expect(() => isSelected(object, { fieldSelector: "spec.nodeName=x" })).toThrow(TypeError);
  });
});
