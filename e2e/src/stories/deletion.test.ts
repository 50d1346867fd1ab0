import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { artifactPrefix, FUNCTION_VERSIONS, FUNCTIONS } from "@sless/contracts";
import { deployments, endpointSlices, pods, services } from "@sless/kube";
import { eventually } from "../harness/eventually.js";
import { answering, createFunction, deploy, redeploy, upload, type Files } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";
import { startReplica } from "../harness/replica.js";
import { breakRegistry, hasImage, listObjects } from "../harness/services.js";

/** Nothing listens on the discard port. */
const UNREACHABLE = "http://127.0.0.1:9";

let platform: TestPlatform;
let tenant: Tenant;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("deletion");
});
afterAll(() => platform.stop());

const versionOf = (name: string) => platform.kube.get(FUNCTION_VERSIONS, { namespace: tenant.namespace, name });
const uidOf = async (name: string): Promise<string> => (await tenant.client.functions.get(name)).value.uid;

/** Names of what is left of a function in either namespace. */
const leftovers = async (name: string): Promise<string[]> => {
  const run = { namespace: tenant.workloads };
  const lists = await Promise.all([
    platform.kube.list(FUNCTIONS, { namespace: tenant.namespace }),
    platform.kube.list(FUNCTION_VERSIONS, { namespace: tenant.namespace }),
    platform.kube.list(deployments, run),
    platform.kube.list(services, run),
    platform.kube.list(endpointSlices, run),
    platform.kube.list(pods, run),
  ]);
  return lists
    .flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    .filter((text) => text.split(" ")[1]?.startsWith(name));
};

const remove = async (name: string): Promise<void> => {
  await tenant.client.functions.delete(name);
  await tenant.client.functions.gone(name, { timeout: 30 });
};

const nothingLeftOf = (name: string) =>
  eventually(`nothing is left of ${name}`, 10_000, async () => {
    const left = await leftovers(name);
    if (left.length > 0) throw new Error(left.join(", "));
    return true;
  });

/** Takes a while to read, compress and push. */
const large = (): Files => ({
  "index.mjs": 'export const handler = async () => "large";',
  "data.txt": Array.from({ length: 400_000 }, (_, line) => `${line} ${(line * 2654435761) % 4294967296}`).join("\n"),
});

describe("a deleted Function", () => {
  it("leaves nothing: workloads, versions, code, images, and the host answers 404", async () => {
    const url = await deploy(tenant, "gone", answering("one"));
    await redeploy(tenant, "gone", answering("two"));
    const images = await Promise.all(
      ["gone-00001", "gone-00002"].map(async (name) => (await versionOf(name)).status?.image ?? ""),
    );
    expect(await Promise.all(images.map((image) => hasImage(platform, image)))).toEqual([true, true]);
    const prefix = artifactPrefix(tenant.namespace, await uidOf("gone"));
    expect(await listObjects(platform, prefix)).toHaveLength(2);

    await remove("gone");
    await nothingLeftOf("gone");
    expect(await listObjects(platform, prefix)).toEqual([]);
    expect(await Promise.all(images.map((image) => hasImage(platform, image)))).toEqual([false, false]);
    await eventually("the gateway has heard of it", 2000, async () => (await call(url)).status !== 200);
    expect((await call(url)).headers["x-sless-fault-source"]).toBe("platform");
  });

  it("keeps the image that another function of the tenant runs", async () => {
    await deploy(tenant, "twin-a", answering("twin"));
    await deploy(tenant, "twin-b", answering("twin"));
    const { image = "" } = (await versionOf("twin-b-00001")).status ?? {};
    await remove("twin-a");
    await nothingLeftOf("twin-a");
    expect(await hasImage(platform, image)).toBe(true);
    await remove("twin-b");
    expect(await hasImage(platform, image)).toBe(false);
  });

  it("in the middle of a build leaves nothing of that build", async () => {
    await createFunction(tenant, "building");
    const prefix = artifactPrefix(tenant.namespace, await uidOf("building"));
    await upload(tenant, "building", large());
    await eventually("the version is there", 10_000, () => versionOf("building-00001"));
    await remove("building");
    await nothingLeftOf("building");
    expect(await listObjects(platform, prefix)).toEqual([]);
  });

  const untilItWaits = (name: string) =>
    eventually("the condition says what it waits for", 20_000, async () => {
      const { status } = (await tenant.client.functions.get(name)).value;
      const ready = status.conditions.find(({ type }) => type === "Ready");
      if (ready?.status === "False" && ready.message.includes("could not be removed")) return true;
      throw new Error(JSON.stringify(ready));
    });

  it("D22: with the registry away says so, and is released once it is back", async () => {
    await deploy(tenant, "no-registry", answering("no registry"));
    const restore = breakRegistry(platform);
    try {
      await tenant.client.functions.delete("no-registry");
      await untilItWaits("no-registry");
    } finally {
      restore();
    }
    await tenant.client.functions.gone("no-registry", { timeout: 30 });
    await nothingLeftOf("no-registry");
  });

  it("D22: with the store away says so, and is released once a controller reaches it again", async () => {
    await deploy(tenant, "no-store", answering("no store"));
    const prefix = artifactPrefix(tenant.namespace, await uidOf("no-store"));
    const pid = platform.pidOf("controller") ?? 0;
    process.kill(pid, "SIGSTOP");
    const replica = await startReplica(platform, "controller", { SLESS_S3_ENDPOINT: UNREACHABLE });
    try {
      await tenant.client.functions.delete("no-store");
      await untilItWaits("no-store");
    } finally {
      await replica.stop();
      process.kill(pid, "SIGCONT");
    }
    await tenant.client.functions.gone("no-store", { timeout: 30 });
    await nothingLeftOf("no-store");
    expect(await listObjects(platform, prefix)).toEqual([]);
  });
});
