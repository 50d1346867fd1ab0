import { afterEach, describe, expect, it } from "@jest/globals";
import {
  ANNOTATIONS,
  FUNCTION_VERSIONS,
  FUNCTIONS,
  hostClaimName,
  LABELS,
  TENANTS,
  TRIGGERS,
  workloadNamespace,
  type Tenant,
} from "@sless/contracts";
import { configMaps, deployments, namespaces, type Deployment } from "@sless/kube";
import { aFunction, aTarget, aTenant, aTrigger, aVersion, TENANT_NAMESPACE } from "@sless/testing";
import { codeKey, isReady, verdictOf } from "./testing/questions.js";
import { createWorld, type World } from "./testing/world.js";

let world: World;
afterEach(() => world.stop());

const OTHER_HASH = "fedcba9876543210".repeat(4);
const OTHER = "sless-fedcba9876543210";
const inOther = { metadata: { namespace: OTHER } };
const otherTenant = (): Tenant => aTenant({ metadata: { name: OTHER }, spec: { hash: OTHER_HASH } });

describe("hosts", () => {
  const shared = { http: { host: "www.example.com", path: "/", methods: [] } };
  const withHost = (tenant: Tenant): Tenant => ({ ...tenant, spec: { ...tenant.spec, hosts: ["example.com"] } });

  it("security 1: of two tenants that race for a host one gets it, and the other hears nothing of whose it is", async () => {
    const rivals = [aTrigger({ spec: shared }), aTrigger({ spec: shared, ...inOther })];
    world = await createWorld({ given: [withHost(aTenant()), withHost(otherTenant()), ...rivals] });
    const triggers = () => world.client.objects(TRIGGERS);
    await world.until("both are decided", () => triggers().every(({ status }) => status?.conditions?.length === 2));
    const accepted = triggers().filter((trigger) => verdictOf(trigger, "Accepted") === "True/Accepted");
    const refused = triggers().filter((trigger) => verdictOf(trigger) === "False/HostConflict");
    expect([accepted.length, refused.length]).toEqual([1, 1]);
    expect(refused[0]?.status?.host).toBeUndefined();
    expect(refused[0]?.status?.message).not.toContain(accepted[0]?.metadata.namespace ?? "-");

    await world.restart();
    await world.settle();
    expect(triggers().filter(({ status }) => status?.host !== undefined)).toHaveLength(1);

    const { name, namespace } = accepted[0]?.metadata ?? { name: "" };
    await world.client.delete(TRIGGERS, { name, namespace });
    await world.until("D28: the other gets it by itself", () => triggers()[0]?.status?.host === "www.example.com");
  });

  it("D28: of two triggers with one host and path the older wins, until it goes", async () => {
    const [older, younger] = [
      aTrigger({ metadata: { name: "a" }, spec: { http: { path: "/x", methods: [] } } }),
      aTrigger({
        metadata: { name: "b", creationTimestamp: "2030-01-02T00:00:00Z" },
        spec: { http: { path: "/x/", methods: [] } },
      }),
    ];
    world = await createWorld({ given: [aTenant(), aFunction(), younger, older] });
    await world.until("the older is active", () => world.trigger("a").status?.phase === "Active");
    await world.until("the younger is not", () => verdictOf(world.trigger("b")) === "False/HostConflict");
    await world.client.delete(TRIGGERS, { name: "a", namespace: TENANT_NAMESPACE });
    await world.until("the younger takes over", () => world.trigger("b").status?.phase === "Active");
  });

  it("turns a trigger off at once and on again, keeping its host for the tenant", async () => {
    world = await createWorld({ given: [aTenant(), aTrigger()] });
    await world.until("it waits", () => verdictOf(world.trigger()) === "False/FunctionNotFound");
    world.client.seed(FUNCTIONS, aFunction());
    await world.until("it follows its function", () => world.trigger().status?.phase === "Active");
    await world.edit(TRIGGERS, world.trigger(), { enabled: false });
    await world.until("it is off", () => world.trigger().status?.phase === "Disabled");
    expect(world.trigger().status?.host).toBeUndefined();
    await world.until("the function has no URL", () => world.fn().status?.url === undefined);
    expect(world.client.objects(configMaps).map(({ metadata }) => metadata.name)).toEqual([
      hostClaimName("hello-01234567.fn.test"),
    ]);
    await world.client.delete(TRIGGERS, { name: "hello", namespace: TENANT_NAMESPACE });
    await world.until("the claim is released", () => world.client.objects(configMaps).length === 0);
  });
});

describe("code", () => {
  it.each([
    ["another function's key", codeKey("a", "other")],
    ["another tenant's key", codeKey("a").replace(TENANT_NAMESPACE, OTHER)],
    ["a path that climbs", `${TENANT_NAMESPACE}/../${OTHER}/x.tar.gz`],
    ["a URL", "https://evil.test/code.tar.gz"],
  ])("security 3: refuses %s", async (_name, s3Key) => {
    world = await createWorld({ given: [aTenant(), aFunction({ spec: { s3Key } })] });
    world.artifacts.keys.add(s3Key);
    await world.until("it is refused", () => verdictOf(world.fn()) === "False/InvalidArtifactKey");
    expect(verdictOf(world.fn(), "CodeUploaded")).toBe("False/InvalidArtifactKey");
    expect(world.images.built).toEqual([]);
    await world.client.delete(FUNCTIONS, { name: "hello", namespace: TENANT_NAMESPACE });
    await world.until("it is gone", () => world.client.objects(FUNCTIONS).length === 0);
    expect(world.artifacts.keys).toContain(s3Key);
  });
});

describe("versions", () => {
  const startReady = async (): Promise<void> => {
    world = await createWorld({ given: [aTenant(), aFunction()] });
    await world.until("ready", () => isReady(world.fn()));
  };
  const key = { name: "hello-00001", namespace: TENANT_NAMESPACE };

  it("security 5: heals a foreign status.image and never runs it", async () => {
    await startReady();
    const image = world.version(1)?.status?.image;
    await world.client.patchStatus(FUNCTION_VERSIONS, key, { image: "evil.test/image@sha256:00" });
    await world.until("it is put right", () => world.version(1)?.status?.image === image);
    await world.restart();
    await world.client.patchStatus(FUNCTION_VERSIONS, key, { image: "evil.test/image@sha256:00" });
    await world.until("also by a new leader", () => world.version(1)?.status?.image === image);
    const images = world.client.writes
      .filter(({ kind }) => kind === "Deployment")
      .map(({ body }) => JSON.stringify(body));
    expect(images.some((body) => body?.includes("evil.test"))).toBe(false);
  });

  it("security 5: takes a foreign version out of status.traffic", async () => {
    await startReady();
    const foreign = aVersion({ of: aFunction({ metadata: { name: "victim" } }) });
    world.client.seed(FUNCTION_VERSIONS, foreign);
    await world.client.patchStatus(
      FUNCTIONS,
      { name: "hello", namespace: TENANT_NAMESPACE },
      { traffic: [aTarget(foreign)] },
    );
    await world.until("own traffic is back", () => world.fn().status?.traffic?.[0]?.name === "hello-00001");
  });

  it("security 6: neither adopts nor deletes an object that was planted under its name", async () => {
    const planted: Deployment = {
      metadata: {
        name: "hello-00001",
        namespace: workloadNamespace(TENANT_NAMESPACE),
        labels: { [LABELS.versionUid]: "another", [LABELS.function]: "hello", [LABELS.version]: "1" },
      },
    };
    world = await createWorld({
      given: [aTenant(), aFunction()],
      plant: (client) => client.seed(deployments, planted),
    });
    await world.until("it says so", () => /is not labelled/.test(world.version(1)?.status?.message ?? ""));
    await world.client.delete(FUNCTIONS, { name: "hello", namespace: TENANT_NAMESPACE });
    await world.until("the function is gone", () => world.client.objects(FUNCTIONS).length === 0);
    expect(world.client.objects(deployments)[0]?.spec).toBeUndefined();
    expect(world.client.objects(deployments)).toHaveLength(1);
  });

  it("security 10: many writes in a row make a few versions", async () => {
    await startReady();
    world.kubelet.setFateOfAll({ kind: "starting" });
    for (let write = 0; write < 500; write++) {
      await world.edit(FUNCTIONS, world.fn(), { env: { WRITE: String(write) } });
      if (write % 100 === 0) await world.settle();
    }
    await world.settle();
    expect(world.fn().status?.latestVersion ?? 0).toBeLessThanOrEqual(5);
    expect(world.versions().length).toBeLessThanOrEqual(3);
    world.kubelet.setFateOfAll({ kind: "ready" });
    await world.until(
      "the last write answers in the end",
      () => isReady(world.fn()) && world.versions().at(-1)?.spec.env["WRITE"] === "499",
    );
  });
});

describe("namespaces", () => {
  it("security 7: neither adopts nor deletes a namespace without the tenant's mark", async () => {
    const name = workloadNamespace(TENANT_NAMESPACE);
    const plant = (client: World["client"]) => client.seed(namespaces, { metadata: { name } });
    world = await createWorld({ given: [aTenant({ status: {} }), aFunction()], plant });
    await world.until("the tenant says so", () => verdictOf(world.tenant()) === "False/NamespaceConflict");
    await world.until("nothing runs", () => verdictOf(world.fn()) === "False/TenantNotReady");
    expect(world.client.objects(deployments)).toEqual([]);
    await world.client.delete(TENANTS, { name: TENANT_NAMESPACE });
    await world.until("the tenant is gone", () => world.client.objects(TENANTS).length === 0);
    expect(world.client.objects(namespaces).map(({ metadata }) => metadata.name)).toEqual([name]);
  });

  it("security 7: refuses the namespace of another tenant whose hash begins alike", async () => {
    const mark = { [ANNOTATIONS.tenantHash]: `0123456789abcdef${"f".repeat(48)}` };
    const metadata = { name: TENANT_NAMESPACE, annotations: mark, labels: { [LABELS.tenant]: TENANT_NAMESPACE } };
    const plant = (client: World["client"]) => client.seed(namespaces, { metadata });
    world = await createWorld({ given: [aTenant({ status: {} })], plant });
    await world.until("the tenant says so", () => verdictOf(world.tenant()) === "False/HashConflict");
  });
});
