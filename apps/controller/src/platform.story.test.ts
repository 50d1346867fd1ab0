import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { FUNCTION_VERSIONS, FUNCTIONS, workloadNamespace, type Function } from "@sless/contracts";
import { deployments, NotFoundError, pods } from "@sless/kube";
import { TENANT_NAMESPACE } from "@sless/testing";
import { conditionOf, isTrue } from "./status/condition-set.js";
import { startPlatform, type Platform } from "./testing/platform.js";

let platform: Platform;
beforeEach(async () => {
  platform = await startPlatform();
}, 30_000);
afterEach(() => platform.stop(), 30_000);

const namespace = workloadNamespace(TENANT_NAMESPACE);
const code = (answer: string) => ({ "index.mjs": `export const handler = () => ${JSON.stringify(answer)};` });

const createFunction = (spec: Partial<Function["spec"]> = {}): Promise<Function> =>
  platform.client.create(FUNCTIONS, {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Function",
    metadata: { name: "hello", namespace: TENANT_NAMESPACE },
    spec: { runtime: "nodejs20", entrypoint: "index.handler", ...spec } as Function["spec"],
  });

const isReady = async (version: number): Promise<boolean> => {
  const { status, metadata } = await platform.fn("hello");
  const ready = conditionOf({ status }, "Ready");
  return (
    isTrue(ready) && ready?.observedGeneration === metadata.generation && status?.traffic?.[0]?.version === version
  );
};

describe("on the embedded cluster", () => {
  it("runs code, moves to new code, and heals what is deleted or edited", async () => {
    await platform.startController();
    const fn = await createFunction();
    await platform.deploy(fn, code("one"));
    await platform.until("version 1 answers", () => isReady(1));
    await platform.deploy(fn, code("two"));
    await platform.until("version 2 answers", () => isReady(2));

    const key = { name: "hello-00002", namespace };
    const before = await platform.client.get(deployments, key);
    await platform.client.delete(deployments, key);
    await platform.until("a new Deployment stands", async () => {
      const live = await platform.client.get(deployments, key).catch(() => undefined);
      return live !== undefined && live.metadata.uid !== before.metadata.uid;
    });
    const container = { name: "function", image: "evil.test/image@sha256:00" };
    await platform.client.mergePatch(deployments, key, { spec: { template: { spec: { containers: [container] } } } });
    await platform.until("the image is put back", async () => {
      const live = await platform.client.get(deployments, key);
      return live.spec?.template.spec?.containers[0]?.image === before.spec?.template.spec?.containers[0]?.image;
    });
    expect((await platform.client.list(pods, { namespace })).items.length).toBeGreaterThan(0);

    await platform.client.delete(FUNCTIONS, { name: "hello", namespace: TENANT_NAMESPACE });
    await platform.until("the Function is gone", async () => {
      const gone = await platform.fn("hello").catch((error: unknown) => error);
      return gone instanceof NotFoundError;
    });
    expect((await platform.client.list(FUNCTION_VERSIONS)).items).toEqual([]);
    expect((await platform.client.list(deployments, { namespace })).items).toEqual([]);
  }, 60_000);

  it("says why code does not load, in the runtime's words, and keeps the old version serving", async () => {
    await platform.startController();
    const fn = await createFunction();
    await platform.deploy(fn, code("one"));
    await platform.until("version 1 answers", () => isReady(1));
    await platform.deploy(fn, { "index.mjs": "export const other = 1;" });
    await platform.until("the failure shows", async () => {
      const { status } = await platform.fn("hello");
      return conditionOf({ status }, "Ready")?.reason === "LoadError" && status?.latestVersion === 2;
    });
    const { status } = await platform.fn("hello");
    expect(status?.message).toMatch(/handler/);
    expect(isTrue(conditionOf({ status }, "Serving"))).toBe(true);
    await platform.until("the broken version is given up", async () => {
      const names = (await platform.client.list(deployments, { namespace })).items.map(({ metadata }) => metadata.name);
      return names.join() === "hello-00001";
    });
  }, 60_000);

  it("D26: moves no resource version while idle, and writes nothing for a foreign annotation", async () => {
    await platform.startController();
    const fn = await createFunction();
    await platform.deploy(fn, code("one"));
    await platform.until("version 1 answers", () => isReady(1));
    const key = { name: "hello-00001", namespace };
    await platform.quiet();
    const annotations = { "example.com/note": "mine" };
    const touched = await platform.client.mergePatch(deployments, key, { metadata: { annotations } });
    await platform.quiet();
    const after = await platform.client.get(deployments, key);
    expect(after.metadata.resourceVersion).toBe(touched.metadata.resourceVersion);
    expect(after.metadata.annotations).toMatchObject(annotations);
  }, 60_000);

  it("D32: a replica takes over at once from a leader that goes, and builds nothing twice", async () => {
    const first = await platform.startController();
    const second = await platform.startController();
    const fn = await createFunction();
    await platform.deploy(fn, code("one"));
    await platform.until("version 1 answers", () => isReady(1));
    const before = await platform.client.get(FUNCTION_VERSIONS, { name: "hello-00001", namespace: TENANT_NAMESPACE });
    const begun = performance.now();
    await first.stop();
    await platform.deploy(fn, code("two"));
    await platform.until("version 2 answers", () => isReady(2));
    expect(performance.now() - begun).toBeLessThan(10_000);
    const kept = await platform.client.get(FUNCTION_VERSIONS, { name: "hello-00001", namespace: TENANT_NAMESPACE });
    expect(kept.status?.image).toBe(before.status?.image);
    await second.stop();
  }, 60_000);
});
