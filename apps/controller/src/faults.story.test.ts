import { afterEach, describe, expect, it } from "@jest/globals";
import { ArtifactStoreUnavailable } from "@sless/artifacts";
import { ANNOTATIONS, FUNCTION_VERSIONS, FUNCTIONS, workloadNamespace } from "@sless/contracts";
import { BuildRejected, RegistryUnavailable } from "@sless/images";
import { deployments, namespaces, ServerError, services } from "@sless/kube";
import { aFunction, aTenant, TENANT_HASH, TENANT_NAMESPACE } from "@sless/testing";
import { codeKey, isReady, verdictOf } from "./testing/questions.js";
import { createWorld, type World } from "./testing/world.js";

let world: World;
afterEach(() => world.stop());
const key = { name: "hello", namespace: TENANT_NAMESPACE };
const startReady = async (): Promise<void> => {
  world = await createWorld({ given: [aTenant(), aFunction()] });
  await world.until("ready", () => isReady(world.fn()));
};

describe("a build", () => {
  it("that fails for good is not repeated, until the spec is written again", async () => {
    world = await createWorld({
      given: [aTenant(), aFunction({ spec: { s3Key: codeKey("a") } })],
      failBuilds: new BuildRejected("too large"),
    });
    await world.until("it failed", () => verdictOf(world.fn()) === "False/BuildFailed");
    await world.until("it is given up", () => world.version(1)?.spec.replicas === 0);
    await world.restart();
    await world.settle();
    expect(world.images.built).toHaveLength(1);
    expect(world.fn().status?.message).toContain("too large");
    world.images.failWith(undefined);
    await world.edit(FUNCTIONS, world.fn(), { keepVersions: 3 });
    await world.until("it answers", () => isReady(world.fn()));
  });

  it("that the registry makes fail is tried again by itself", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()], failBuilds: new RegistryUnavailable("no answer") });
    await world.until("it says so", () => verdictOf(world.fn()) === "False/RegistryUnavailable");
    world.images.failWith(undefined);
    await world.until("it answers", () => isReady(world.fn()));
  });

  it("is ended when its version goes", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()], holdBuilds: true });
    await world.until(
      "it is being built",
      () => verdictOf(world.fn()) === "False/Building" && world.images.built.length === 1,
    );
    await world.client.delete(FUNCTIONS, key);
    await world.until("the function is gone", () => world.client.objects(FUNCTIONS).length === 0);
    expect(world.images.aborted).toHaveLength(1);
    expect(world.client.objects(FUNCTION_VERSIONS)).toEqual([]);
  });
});

describe("D22: deletion", () => {
  it("with registry and store down is retried with a visible condition, and released after recovery", async () => {
    await startReady();
    world.artifacts.keys.add(codeKey("a"));
    world.images.failWith(new RegistryUnavailable("no answer"));
    world.artifacts.failWith(new ArtifactStoreUnavailable("list", "x", "no answer"));
    await world.client.delete(FUNCTIONS, key);
    await world.until("the registry is named", () =>
      /image could not be removed: no answer/.test(world.fn().status?.message ?? ""),
    );
    expect(world.client.objects(deployments)).toEqual([]);
    world.images.failWith(undefined);
    await world.until("the store is named", () => verdictOf(world.fn()) === "False/StoreUnavailable");
    world.artifacts.failWith(undefined);
    await world.until("the function is gone", () => world.client.objects(FUNCTIONS).length === 0);
    expect(world.artifacts.keys.size).toBe(0);
  }, 30_000);
});

describe("D22: namespaces", () => {
  it("(a) that were deleted by hand come back, and hold no Function's deletion up", async () => {
    await startReady();
    const name = workloadNamespace(TENANT_NAMESPACE);
    const uid = world.client.objects(namespaces).find(({ metadata }) => metadata.name === name)?.metadata.uid;
    await world.client.delete(deployments, { name: "hello-00001", namespace: name });
    await world.client.delete(services, { name: "hello-00001", namespace: name });
    await world.client.delete(namespaces, { name });
    await world.client.delete(FUNCTIONS, key);
    await world.until("the function is gone", () => world.client.objects(FUNCTIONS).length === 0);
    await world.until("the namespace is made anew, with its mark", () => {
      const live = world.client.objects(namespaces).find(({ metadata }) => metadata.name === name);
      return live?.metadata.uid !== uid && live?.metadata.annotations?.[ANNOTATIONS.tenantHash] === TENANT_HASH;
    });
  });
});

describe("D27: a quota", () => {
  it("that refuses pods shows with its figures, and the function becomes ready by itself after the raise", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()] });
    world.kubelet.setFate("hello-00001", { kind: "quota", room: 0 });
    await world.restart();
    await world.until("it says so", () => verdictOf(world.fn()) === "False/QuotaExceeded");
    expect(world.fn().status?.message).toContain("limited: pods=1");
    world.kubelet.setFate("hello-00001", { kind: "ready" });
    await world.until("it answers", () => isReady(world.fn()));
  });
});

describe("a fault of the API server", () => {
  it("shows as a fault of the platform, and is tried again", async () => {
    world = await createWorld({
      given: [aTenant(), aFunction()],
      plant: (client) => {
        client.failOn(
          "apply",
          "Deployment",
          new ServerError("apply", { code: 500, reason: "InternalError", message: "boom", causes: [] }),
        );
      },
    });
    await world.until("it says so", () => verdictOf(world.fn()) === "False/InternalError");
    expect(world.fn().status?.phase).toBe("Pending");
  });
});
