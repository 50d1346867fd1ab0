import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  answering,
  createFunction,
  deploy,
  nodeFiles,
  redeploy,
  untilReady,
  upload,
  urlOf,
} from "../harness/functions.js";
import { call } from "../harness/http.js";
import { eventually } from "../harness/eventually.js";
import { startLoad } from "../harness/load.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";
import { FUNCTION_VERSIONS } from "@sless/contracts";
import { pods } from "@sless/kube";

let platform: TestPlatform;
let tenant: Tenant;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("redeploy");
});
afterAll(() => platform.stop());

const imageOf = async (name: string): Promise<string | undefined> =>
  (await platform.kube.get(FUNCTION_VERSIONS, { namespace: tenant.namespace, name })).status?.image;

const podsOf = async (version: string): Promise<string[]> => {
  const { items } = await platform.kube.list(pods, { namespace: tenant.workloads });
  return items.map(({ metadata }) => metadata.name ?? "").filter((name) => name.startsWith(version));
};

describe("a deploy of changed code", () => {
  it("drops no call under load, and no old answer comes once it has said ready", async () => {
    const url = await deploy(tenant, "loaded", answering("one"), { scale: { min: 1, concurrency: 10 } });
    const load = startLoad(url, 4);
    await eventually("calls are answered", 5000, () => load.count() >= 20);
    await redeploy(tenant, "loaded", answering("two"));
    const readyAt = performance.now();
    const fresh = await Promise.all(Array.from({ length: 50 }, () => call(url)));
    const { answers, failures } = await load.stop();

    expect(failures).toEqual([]);
    expect(new Set(fresh.map(({ text }) => text))).toEqual(new Set(["two"]));
    expect(answers.filter(({ startedAt, text }) => startedAt > readyAt && text !== "two")).toEqual([]);
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(["one", "two"]));
  });

  it("R35: lets a running call end in the old version, whose pod goes after it", async () => {
    const slow = (text: string) =>
      nodeFiles(`let slow = 0;
      export const handler = async ({ path }) => {
        if (path === "/slow") {
          slow += 1;
          await new Promise((resolve) => setTimeout(resolve, 6000));
        }
        return path === "/count" ? String(slow) : ${JSON.stringify(text)};
      };`);
    const url = await deploy(tenant, "running", slow("old"), { scale: { min: 1, concurrency: 2 } });
    const running = call(`${url}/slow`);
    await eventually("the long call is in the pod", 5000, async () => (await call(`${url}/count`)).text === "1");
    await redeploy(tenant, "running", slow("new"));
    expect((await call(url)).text).toBe("new");
    expect(await podsOf("running-00001")).toHaveLength(1);
    expect(await running).toMatchObject({ status: 200, text: "old" });
    await eventually("the old pod is gone", 10_000, async () => (await podsOf("running-00001")).length === 0);
  });
});

describe("a change of settings", () => {
  it("T4: builds nothing, and R38a: shows no old value once it has said ready", async () => {
    const files = nodeFiles("export const handler = async () => process.env.A + process.env.B;");
    const url = await deploy(tenant, "settings", files, { env_vars: { A: "1", B: "kept" } });
    expect((await call(url)).text).toBe("1kept");
    const { value } = await tenant.client.functions.patch("settings", { env_vars: { A: "2" } });
    const ready = await untilReady(tenant, "settings", value.generation);
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(url)));
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(["2kept"]));
    expect(ready.status.ready_version).toBe(2);
    expect(await imageOf("settings-00002")).toBe(await imageOf("settings-00001"));
  });

  it("makes no version of what decides nothing about the code's behaviour", async () => {
    await deploy(tenant, "scaled", answering("x"));
    const { value } = await tenant.client.functions.patch("scaled", { scale: { min: 2 } });
    await untilReady(tenant, "scaled", value.generation);
    expect((await tenant.client.functions.versions("scaled")).map(({ version }) => version)).toEqual([1]);
    await eventually("two pods run", 10_000, async () => (await podsOf("scaled-00001")).length === 2);
  });

  it("makes no version of the same code again", async () => {
    await createFunction(tenant, "same");
    await redeploy(tenant, "same", answering("x"));
    await upload(tenant, "same", answering("x"));
    await redeploy(tenant, "same", answering("x"));
    await urlOf(tenant, "same");
    expect((await tenant.client.functions.versions("same")).map(({ version }) => version)).toEqual([1]);
  });
});
