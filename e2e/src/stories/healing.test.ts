import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { FUNCTION_VERSIONS, FUNCTIONS, TRIGGERS } from "@sless/contracts";
import { deployments, endpointSlices, pods, services, type Deployment, type Service } from "@sless/kube";
import { eventually } from "../harness/eventually.js";
import { answering, createFunction, deploy, nodeFiles, redeploy, untilReady, upload } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

const HEALED_WITHIN_MS = 1000;
const IDLE_MS = 5000;

let platform: TestPlatform;
let tenant: Tenant;
let url: string;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("healing");
  url = await deploy(tenant, "healed", nodeFiles("export const handler = async () => process.env.A;"), {
    env_vars: { A: "1" },
  });
});
afterAll(() => platform.stop());
beforeEach(() => untilReady(tenant, "healed"));

const key = () => ({ namespace: tenant.workloads, name: "healed-00001" });
const getDeployment = () => platform.kube.get(deployments, key());
const containerOf = (deployment: Deployment) => deployment.spec?.template.spec?.containers[0];

describe("a child that somebody changes through the Kubernetes API", () => {
  it("a deleted Deployment is back within a second", async () => {
    const { metadata } = await getDeployment();
    await platform.kube.delete(deployments, key());
    await eventually(
      "a new Deployment is there",
      HEALED_WITHIN_MS,
      async () => (await getDeployment()).metadata.uid !== metadata.uid,
    );
    await eventually("calls are answered", 10_000, async () => (await call(url)).text === "1");
  });

  it("an edited image and environment are put back within a second", async () => {
    const before = containerOf(await getDeployment());
    await platform.kube.mergePatch(deployments, key(), {
      spec: {
        template: {
          spec: { containers: [{ ...before, image: "registry.invalid/evil:1", env: [{ name: "A", value: "evil" }] }] },
        },
      },
    });
    await eventually("image and environment are as before", HEALED_WITHIN_MS, async () => {
      const now = containerOf(await getDeployment());
      return now?.image === before?.image && JSON.stringify(now?.env) === JSON.stringify(before?.env);
    });
    await eventually("calls are answered", 10_000, async () => (await call(url)).text === "1");
  });

  it("a deleted Service is back within a second, and routes again", async () => {
    const { metadata } = await platform.kube.get(services, key());
    await platform.kube.delete(services, key());
    await eventually("a new Service is there", HEALED_WITHIN_MS, async () => {
      const service: Service = await platform.kube.get(services, key());
      return service.metadata.uid !== metadata.uid;
    });
    await eventually("calls are answered", 10_000, async () => (await call(url)).text === "1");
  });

  it("a killed pod's function answers again", async () => {
    const { items } = await platform.kube.list(pods, { namespace: tenant.workloads });
    const pod = items.find(({ metadata }) => metadata.name?.startsWith("healed-"));
    await platform.kube.delete(pods, { namespace: tenant.workloads, name: pod?.metadata.name ?? "" });
    await eventually("calls are answered", 10_000, async () => (await call(url)).text === "1");
  });

  it("D26: a foreign annotation stays", async () => {
    await platform.kube.mergePatch(deployments, key(), { metadata: { annotations: { "example.com/note": "mine" } } });
    const { value } = await tenant.client.functions.patch("healed", { scale: { min: 2 } });
    await untilReady(tenant, "healed", value.generation);
    const deployment = await eventually("the Deployment has two replicas", 5000, async () => {
      const found = await getDeployment();
      return found.spec?.replicas === 2 && found;
    });
    expect(deployment.metadata.annotations).toMatchObject({ "example.com/note": "mine" });
    const back = await tenant.client.functions.patch("healed", { scale: { min: 1 } });
    await untilReady(tenant, "healed", back.value.generation);
  });
});

describe("what others put in the way", () => {
  it("security 6: a planted Deployment of another uid is neither adopted nor deleted", async () => {
    const name = "planted-00001";
    const labels = { app: "planted" };
    const planted = await platform.kube.create(deployments, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: tenant.workloads, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "planted", image: "registry.invalid/x:1" }] } },
      },
    });
    await createFunction(tenant, "planted");
    await upload(tenant, "planted", answering("x"));
    const version = await eventually("the version says that the name is taken", 10_000, async () => {
      const found = await platform.kube.get(FUNCTION_VERSIONS, { namespace: tenant.namespace, name });
      return (
        found.status?.conditions?.some(({ status, message }) => status === "False" && message.includes("Deployment")) &&
        found
      );
    });
    expect(version.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "False" });
    await tenant.client.functions.delete("planted");
    await tenant.client.functions.gone("planted", { timeout: 20 });
    const left = await platform.kube.get(deployments, { namespace: tenant.workloads, name });
    expect(left.metadata.uid).toBe(planted.metadata.uid);
    expect(left.metadata.labels).toEqual(labels);
  });

  it("security 5: nobody changes the spec of a version, and a foreign image in its status is healed", async () => {
    const version = { namespace: tenant.namespace, name: "healed-00001" };
    await expect(
      platform.kube.mergePatch(FUNCTION_VERSIONS, version, { spec: { entrypoint: "evil.handler" } }),
    ).rejects.toThrow(/snapshot/);
    const { image } = (await platform.kube.get(FUNCTION_VERSIONS, version)).status ?? {};
    await platform.kube.patchStatus(FUNCTION_VERSIONS, version, {
      image: "registry.invalid/evil@sha256:" + "0".repeat(64),
    });
    await eventually("the image is the built one again", 5000, async () => {
      const found = await platform.kube.get(FUNCTION_VERSIONS, version);
      return found.status?.image === image;
    });
    expect(containerOf(await getDeployment())?.image).toBe(image);
  });
});

describe("idle functions", () => {
  it("D26: cause no write at all", async () => {
    await Promise.all(["idle-a", "idle-b", "idle-c"].map((name) => deploy(tenant, name, answering(name))));
    const versions = async () => {
      const all = { namespace: tenant.namespace };
      const run = { namespace: tenant.workloads };
      const lists = await Promise.all([
        platform.kube.list(FUNCTIONS, all),
        platform.kube.list(FUNCTION_VERSIONS, all),
        platform.kube.list(TRIGGERS, all),
        platform.kube.list(deployments, run),
        platform.kube.list(services, run),
        platform.kube.list(endpointSlices, run),
      ]);
      return lists.flatMap(({ items }) =>
        items.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
      );
    };
    const quiet = await eventually("everything has settled", 10_000, async () => {
      const before = await versions();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return JSON.stringify(await versions()) === JSON.stringify(before) && before;
    });
    // The absence of writes has no event to wait for: the time itself is what is tested.
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    expect(await versions()).toEqual(quiet);
  });

  it("keep their version when the same code is uploaded again by another zip", async () => {
    await redeploy(tenant, "idle-a", answering("idle-a"));
    expect(await tenant.client.functions.versions("idle-a")).toHaveLength(1);
  });
});
