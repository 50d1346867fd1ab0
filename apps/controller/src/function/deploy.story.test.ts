import { afterEach, describe, expect, it } from "@jest/globals";
import { FUNCTION_VERSIONS, FUNCTIONS, TENANTS, workloadNamespace } from "@sless/contracts";
import { deployments, services } from "@sless/kube";
import { aFunction, aTenant, aTrigger, TENANT_NAMESPACE } from "@sless/testing";
import { loadErrorStatus } from "../testing/fake-kubelet.js";
import { codeKey, isReady, routed, verdictOf } from "../testing/questions.js";
import { createWorld, type World } from "../testing/world.js";

let world: World;
afterEach(() => world.stop());

const startReady = async (): Promise<void> => {
  world = await createWorld({ given: [aTenant(), aFunction()] });
  await world.until("version 1 answers", () => isReady(world.fn()));
};
const upload = (digit: string): Promise<void> => world.edit(FUNCTIONS, world.fn(), { s3Key: codeKey(digit) });
const answers = (version: number) => (): boolean =>
  isReady(world.fn()) && routed(world.fn()).join() === String(version);
const deploymentNames = (): string[] => world.client.objects(deployments).map(({ metadata }) => metadata.name ?? "");

describe("deploying", () => {
  it("takes a function from its code to an endpoint", async () => {
    world = await createWorld({ given: [aTenant(), aFunction(), aTrigger()] });
    await world.until("ready with its URL", () => isReady(world.fn()) && world.fn().status?.url !== undefined);
    expect(world.fn().status).toMatchObject({
      phase: "Ready",
      latestVersion: 1,
      readyVersion: 1,
      traffic: [{ version: 1, percent: 100, name: "hello-00001", timeoutSec: 30, concurrency: 1 }],
      url: "https://hello-01234567.fn.test",
    });
    expect(deploymentNames()).toEqual(["hello-00001"]);
    expect(world.client.objects(services)).toHaveLength(1);
  });

  it("moves to new code and removes the old workload", async () => {
    await startReady();
    await upload("a");
    await world.until("version 2 answers", answers(2));
    await world.until("the old workload is gone", () => deploymentNames().join() === "hello-00002");
    await world.until("version 1 rests", () => world.version(1)?.status?.phase === "ScaledDown");
  });

  it("makes no version of scale, traffic or the same content, and a new one of a setting", async () => {
    await startReady();
    await world.edit(FUNCTIONS, world.fn(), { scale: { min: 2, concurrency: 8 }, keepVersions: 3 });
    await world.until("scaled", () => isReady(world.fn()) && world.version(1)?.spec.replicas === 2);
    expect(world.versions()).toHaveLength(1);
    expect(world.fn().status?.traffic?.[0]?.concurrency).toBe(8);
    await world.edit(FUNCTIONS, world.fn(), { env: { GREETING: "hi" } });
    await world.until("version 2 answers", answers(2));
    expect(world.images.built).toHaveLength(2);
  });

  it("keeps the last good version serving when new code does not load, and says why", async () => {
    await startReady();
    world.kubelet.setFate("hello-00002", {
      kind: "status",
      status: loadErrorStatus("index.js exports no handler", 0),
    });
    await upload("b");
    await world.until("the failure shows", () => verdictOf(world.fn()) === "False/LoadError");
    expect(world.fn().status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("exports no handler"),
    });
    expect(verdictOf(world.fn(), "Serving")).toBe("True/Serving");
    expect(routed(world.fn())).toEqual([1]);

    world.kubelet.setFate("hello-00002", { kind: "status", status: loadErrorStatus("index.js exports no handler", 1) });
    await world.until("the broken version is given up", () => deploymentNames().join() === "hello-00001");
    expect(verdictOf(world.fn())).toBe("False/LoadError");
    expect(verdictOf(world.version(2) ?? {})).toBe("False/LoadError");

    world.kubelet.setFate("hello-00002", { kind: "ready" });
    await world.edit(FUNCTIONS, world.fn(), { keepVersions: 4 });
    await world.until("any write tries it again", answers(2));
  });

  it("rolls back to a version that was scaled down, without a build", async () => {
    await startReady();
    await upload("a");
    await world.until("version 2 answers", answers(2));
    await world.until("the old workload is gone", () => deploymentNames().join() === "hello-00002");
    await world.edit(FUNCTIONS, world.fn(), { traffic: [{ version: 1, percent: 100 }] });
    await world.until("version 1 answers again", answers(1));
    expect(world.versions()).toHaveLength(2);
  });

  it("splits traffic, and refuses a version that does not exist", async () => {
    await startReady();
    await upload("a");
    await world.until("version 2 answers", answers(2));
    const traffic = [
      { version: 1, percent: 90 },
      { version: 2, percent: 10, tag: "next" },
    ];
    await world.edit(FUNCTIONS, world.fn(), { traffic });
    await world.until("both answer", () => isReady(world.fn()) && routed(world.fn()).length === 2);
    expect(world.fn().status?.traffic).toMatchObject(traffic);
    await world.edit(FUNCTIONS, world.fn(), { traffic: [{ version: 9, percent: 100 }] });
    await world.until("it is refused", () => verdictOf(world.fn()) === "False/VersionNotFound");
    expect(world.fn().status?.traffic).toMatchObject(traffic);
  });

  it("keeps keepVersions versions for a rollback", async () => {
    await startReady();
    await world.edit(FUNCTIONS, world.fn(), { keepVersions: 1 });
    for (const [digit, number] of [
      ["a", 2],
      ["b", 3],
      ["d", 4],
    ] as const) {
      await upload(digit);
      await world.until(`version ${number} answers`, answers(number));
    }
    await world.until(
      "old ones are gone",
      () =>
        world
          .versions()
          .map(({ spec }) => spec.version)
          .join() === "3,4",
    );
  });

  it("removes everything of a tenant", async () => {
    world = await createWorld({ given: [aTenant(), aFunction(), aTrigger()] });
    world.artifacts.keys.add(codeKey("a"));
    await world.until("ready", () => isReady(world.fn()));
    await world.client.delete(TENANTS, { name: TENANT_NAMESPACE });
    await world.until("the tenant is gone", () => world.client.objects(TENANTS).length === 0);
    expect(world.client.objects(FUNCTIONS)).toEqual([]);
    expect(deploymentNames()).toEqual([]);
    expect(world.images.removed).toHaveLength(1);
    expect(world.artifacts.keys.size).toBe(0);
  });
});

describe("moving traffic", () => {
  it("is ready, and lets the old version go, only once every live gateway has followed", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()] });
    await world.report("gateway-a", "999999");
    await world.report("gateway-b", "999999");
    await world.until("version 1 answers", answers(1));
    await world.report("gateway-a", "1");
    await world.report("gateway-b", "1");
    await upload("a");
    await world.until("traffic has moved", () => routed(world.fn()).join() === "2");
    await world.until("it waits", () => verdictOf(world.fn()) === "False/MovingTraffic");
    expect(world.fn().status?.message).toMatch(/gateway-a, gateway-b/);
    await world.report("gateway-a", "999999");
    await world.until("it waits for b alone", () => /follow: gateway-b$/.test(world.fn().status?.message ?? ""));
    expect(world.version(1)?.spec.replicas).toBe(1);
    expect(deploymentNames()).toContain("hello-00001");
    await world.report("gateway-b", "999999");
    await world.until("ready", answers(2));
    await world.until("the old workload is gone", () => deploymentNames().join() === "hello-00002");
  });

  it("matches the capacity of the old version before it moves", async () => {
    await startReady();
    await world.edit(FUNCTIONS, world.fn(), { scale: { min: 3, concurrency: 1 } });
    await world.until("three run", () => world.version(1)?.status?.readyReplicas === 3);
    await world.edit(FUNCTIONS, world.fn(), { scale: { min: 1, concurrency: 1 } });
    await world.until("one runs", () => world.version(1)?.status?.readyReplicas === 1);
    world.kubelet.setFate("hello-00002", { kind: "starting" });
    await world.edit(FUNCTIONS, world.fn(), { scale: { min: 3, concurrency: 1 } });
    await world.until("three run", () => world.version(1)?.status?.readyReplicas === 3);
    await upload("a");
    await world.until("the new one starts as many", () => world.version(2)?.spec.replicas === 3);
    expect(routed(world.fn())).toEqual([1]);
    world.kubelet.setFate("hello-00002", { kind: "ready" });
    await world.until("version 2 answers", answers(2));
  });

  it("moves step by step when the quota has no room for both (QuotaSurge)", async () => {
    await startReady();
    await world.edit(FUNCTIONS, world.fn(), { scale: { min: 4, concurrency: 1 } });
    await world.until("four run", () => world.version(1)?.status?.readyReplicas === 4);
    world.kubelet.shareQuota(["hello-00001", "hello-00002"], 4);
    await upload("a");
    await world.until(
      "version 2 answers with all",
      () => answers(2)() && world.version(2)?.status?.readyReplicas === 4,
    );
    const said = world.client.writes.filter(({ kind }) => kind === "Function").map(({ body }) => JSON.stringify(body));
    expect(said.some((body) => body.includes('"QuotaSurge"'))).toBe(true);
  });

  it("keeps what was acknowledged across a new leader, and what was not", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()] });
    await world.report("gateway-a", "999999");
    await world.until("version 1 answers", answers(1));
    await world.report("gateway-a", "1");
    await world.restart();
    await upload("a");
    await world.until(
      "it waits",
      () => verdictOf(world.fn()) === "False/MovingTraffic" && routed(world.fn()).join() === "2",
    );
    await world.restart();
    expect(world.version(1)?.spec.replicas).toBe(1);
    await world.report("gateway-a", "999999");
    await world.until("version 2 answers", answers(2));
  });
});

describe("children", () => {
  it("D21: no child points at an owner in another namespace", async () => {
    await startReady();
    for (const child of [...world.client.objects(deployments), ...world.client.objects(services)]) {
      expect(child.metadata.namespace).toBe(workloadNamespace(TENANT_NAMESPACE));
      expect(child.metadata.ownerReferences).toBeUndefined();
    }
    expect(world.versions()[0]?.metadata.ownerReferences).toMatchObject([{ kind: "Function", name: "hello" }]);
  });

  it("D26: writes nothing while nothing changes, and leaves foreign annotations alone", async () => {
    await startReady();
    await world.client.mergePatch(
      deployments,
      { name: "hello-00001", namespace: workloadNamespace(TENANT_NAMESPACE) },
      { metadata: { annotations: { "example.com/note": "mine" } } },
    );
    await world.settle();
    const before = world.client.writes.length;
    await world.restart();
    await world.settle();
    const versions = world.client.objects(deployments).map(({ metadata }) => metadata.resourceVersion);
    await world.client.mergePatch(
      FUNCTIONS,
      { name: "hello", namespace: TENANT_NAMESPACE },
      { metadata: { annotations: { a: "b" } } },
    );
    await world.settle();
    const own = world.client.writes.slice(before).filter(({ verb }) => verb === "patchStatus");
    expect(own.filter(({ kind }) => kind !== "Pod" && kind !== "Deployment")).toEqual([]);
    expect(world.client.objects(deployments).map(({ metadata }) => metadata.resourceVersion)).toEqual(versions);
    expect(world.client.objects(deployments)[0]?.metadata.annotations).toEqual({ "example.com/note": "mine" });
  });

  it("are put back when they are deleted or edited", async () => {
    await startReady();
    const key = { name: "hello-00001", namespace: workloadNamespace(TENANT_NAMESPACE) };
    await world.client.delete(services, key);
    await world.until("the Service is back", () => world.client.objects(services).length === 1);
    await world.client.mergePatch(deployments, key, { spec: { replicas: 7 } });
    await world.until("the Deployment is put right", () => world.client.objects(deployments)[0]?.spec?.replicas === 1);
    await world.client.delete(FUNCTION_VERSIONS, { name: "hello-00001", namespace: TENANT_NAMESPACE });
    await world.until("a version is made anew, under a new number", answers(2));
  });
});
