import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { FUNCTION_VERSIONS, GATEWAY_REPORTS } from "@sless/contracts";
import { deployments, leases } from "@sless/kube";
import { eventually } from "../harness/eventually.js";
import { answering, deploy, redeploy } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";
import { startReplica, type Replica } from "../harness/replica.js";

let platform: TestPlatform;
let tenant: Tenant;
const replicas: Replica[] = [];
const start = async (component: "api" | "controller" | "gateway"): Promise<Replica> => {
  const replica = await startReplica(platform, component);
  replicas.push(replica);
  return replica;
};
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("replicas");
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await platform.stop();
});

describe("two API replicas", () => {
  it("security 23: 50 PUTs at once with one ETag over both give one 200 and 49 times 412", async () => {
    const second = await start("api");
    await tenant.client.functions.create({ name: "contended", runtime: "nodejs20", entrypoint: "index.handler" });
    const { etag = "" } = await tenant.client.functions.get("contended");
    const endpoints = [platform.endpoint, `http://${second.env["SLESS_LISTEN"]}`];
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const answer = await call(`${endpoints[index % 2]}/v1/namespaces/me/functions/contended`, {
          method: "PUT",
          headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json", "if-match": etag },
          body: JSON.stringify({ runtime: "nodejs20", entrypoint: "index.handler", timeout_sec: index + 1 }),
        });
        return answer.status;
      }),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array<number>(49).fill(412)]);
  });
});

describe("two gateways", () => {
  it("both acknowledge a move before it counts as ready, so that neither gives an old answer", async () => {
    const second = await start("gateway");
    const other = `http://${second.env["SLESS_PUBLIC_LISTEN"]}`;
    const url = await deploy(tenant, "moved", answering("0"));
    const { host } = new URL(url);
    for (let round = 1; round <= 3; round++) {
      await redeploy(tenant, "moved", answering(String(round)));
      const texts = await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          index % 2 === 0 ? (await call(url)).text : (await call(other, { headers: { host } })).text,
        ),
      );
      expect(new Set(texts)).toEqual(new Set([String(round)]));
    }
    const reports = (await platform.kube.list(GATEWAY_REPORTS)).items.map(({ metadata }) => metadata.name);
    expect(reports.toSorted()).toEqual(["local-gateway", "replica-gateway"]);
  });

  it("one that is killed holds no deploy up for longer than its lease", async () => {
    const second = replicas.find(({ name }) => name === "replica-gateway");
    await second?.kill();
    await redeploy(tenant, "moved", answering("after"));
    expect((await call(await platformUrl("moved"))).text).toBe("after");
  });
});

const platformUrl = async (name: string): Promise<string> =>
  (await tenant.client.functions.get(name)).value.status.url ?? "";

describe("two controllers", () => {
  const leader = async (): Promise<string> => {
    const { items } = await platform.kube.list(leases, { namespace: "sless" });
    const lease = items.find(({ metadata }) => metadata.name?.includes("controller"));
    return lease?.spec?.holderIdentity ?? "";
  };

  it("hand over when the leader is killed, and make nothing twice", async () => {
    await start("controller");
    expect(await leader()).toContain("local-controller");
    process.kill(platform.pidOf("controller") ?? 0, "SIGKILL");
    const url = await deploy(tenant, "handed", answering("handed over"));
    expect((await call(url)).text).toBe("handed over");
    await eventually("somebody leads", 10_000, async () => (await leader()) !== "");
    const versions = (await platform.kube.list(FUNCTION_VERSIONS, { namespace: tenant.namespace })).items;
    expect(versions.filter(({ spec }) => spec.functionName === "handed")).toHaveLength(1);
    const running = (await platform.kube.list(deployments, { namespace: tenant.workloads })).items;
    expect(running.filter(({ metadata }) => metadata.name?.startsWith("handed"))).toHaveLength(1);
  });
});
