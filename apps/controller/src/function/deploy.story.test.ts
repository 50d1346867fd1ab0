import { afterEach, describe, expect, it } from "@jest/globals";
import { FUNCTIONS, TENANTS, workloadNamespace } from "@sless/contracts";
import { deployments, services } from "@sless/kube";
import { aFunction, aTenant, aTrigger, TENANT_NAMESPACE, uidOf } from "@sless/testing";
import { conditionOf, isTrue } from "../status/condition-set.js";
import { createWorld, type World } from "../testing/world.js";

let world: World;
afterEach(() => world.stop());

const isReady = (): boolean => {
  const ready = conditionOf(world.fn(), "Ready");
  return isTrue(ready) && ready?.observedGeneration === world.fn().metadata.generation;
};
const codeKey = (digit: string): string =>
  `${TENANT_NAMESPACE}/${uidOf("Function", "hello")}/${digit.repeat(64)}.tar.gz`;

describe("deploying", () => {
  it("takes a function from its code to an endpoint", async () => {
    world = await createWorld({ given: [aTenant(), aFunction(), aTrigger()] });
    await world.until("ready", isReady);
    await world.until("has its URL", () => world.fn().status?.url !== undefined);
    expect(world.fn().status).toMatchObject({
      phase: "Ready",
      latestVersion: 1,
      readyVersion: 1,
      traffic: [{ version: 1, percent: 100, name: "hello-00001", timeoutSec: 30, concurrency: 1 }],
      url: "https://hello-01234567.fn.test",
    });
    expect(world.client.objects(deployments)).toHaveLength(1);
    expect(world.client.objects(services)).toHaveLength(1);
    expect(world.client.objects(deployments)[0]?.metadata.namespace).toBe(workloadNamespace(TENANT_NAMESPACE));
  });

  it("moves to new code and removes the old workload", async () => {
    world = await createWorld({ given: [aTenant(), aFunction()] });
    await world.until("ready", isReady);
    await world.edit(FUNCTIONS, world.fn(), { s3Key: codeKey("a") });
    await world.until("new version answers", () => isReady() && world.fn().status?.traffic?.[0]?.version === 2);
    await world.until("old workload is gone", () => world.client.objects(deployments).length === 1);
    expect(world.client.objects(deployments)[0]?.metadata.name).toBe("hello-00002");
    expect(world.version(1)?.status?.phase).toBe("ScaledDown");
  });

  it("removes everything of a tenant", async () => {
    world = await createWorld({ given: [aTenant(), aFunction(), aTrigger()] });
    await world.until("ready", isReady);
    await world.client.delete(TENANTS, { name: TENANT_NAMESPACE });
    await world.until("the tenant is gone", () => world.client.objects(TENANTS).length === 0);
    expect(world.client.objects(FUNCTIONS)).toEqual([]);
    expect(world.client.objects(deployments)).toEqual([]);
    expect(world.images.removed).toHaveLength(1);
  });
});
