import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { TENANTS, TRIGGERS, type Trigger } from "@sless/contracts";
import { eventually } from "../harness/eventually.js";
import { answering, deploy, nodeFiles, redeploy, urlOf } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

let platform: TestPlatform;
let tenant: Tenant;
let rival: Tenant;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("triggers");
  rival = platform.tenant("rival");
  await deploy(
    tenant,
    "echo",
    nodeFiles("export const handler = async ({ httpMethod, path }) => httpMethod + ' ' + path;"),
  );
  await deploy(rival, "echo", answering("the rival"));
});
afterAll(() => platform.stop());

const gateway = () => `http://127.0.0.1:${platform.gatewayPort}`;
const callHost = (host: string, target = "/", method = "GET") =>
  call(gateway(), { headers: { host: `${host}:${platform.gatewayPort}` }, target, method });

const trigger = async (name: string, owner = tenant): Promise<Trigger> =>
  platform.kube.get(TRIGGERS, { namespace: owner.namespace, name });
const readyReason = (found: Trigger) => found.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
const untilReason = (name: string, reason: string, owner = tenant) =>
  eventually(`${name} says ${reason}`, 5000, async () => {
    const found = await trigger(name, owner);
    if (readyReason(found) === reason) return found;
    throw new Error(JSON.stringify(found.status));
  });

const allowHost = (owner: Tenant, ...hosts: string[]) =>
  platform.kube.mergePatch(TENANTS, { name: owner.namespace }, { spec: { hosts } });

describe("a trigger", () => {
  it("that comes before its function waits for it by watch", async () => {
    await tenant.client.triggers.create({ name: "early", function: "late", type: "http" });
    await untilReason("early", "FunctionNotFound");
    await tenant.client.functions.create({ name: "late", runtime: "nodejs20", entrypoint: "index.handler" });
    await untilReason("early", "FunctionNotReady");
    await redeploy(tenant, "late", answering("late"));
    const url = await urlOf(tenant, "early");
    expect((await call(url)).text).toBe("late");
  });

  it("with enabled: false is off at once, and on again at once", async () => {
    const url = await deploy(tenant, "switch", answering("on"));
    const set = (enabled: boolean) => tenant.client.triggers.patch("switch", { enabled });
    await set(false);
    await untilReason("switch", "Disabled");
    await eventually("calls are refused", 1000, async () => (await call(url)).status === 404);
    await set(true);
    await eventually("calls are answered", 2000, async () => (await call(url)).text === "on");
  });

  it("lets only its methods and its path's segments through", async () => {
    await tenant.client.triggers.delete("echo");
    await tenant.client.triggers.create({
      name: "narrow",
      function: "echo",
      type: "http",
      http: { path: "/api", methods: ["GET", "POST"] },
    });
    const url = new URL(await urlOf(tenant, "narrow"));
    expect(url.pathname).toBe("/api");
    const answers = await Promise.all(
      (
        [
          ["GET", "/api"],
          ["GET", "/api/x"],
          ["GET", "/apix"],
          ["GET", "/"],
          ["PUT", "/api"],
        ] as const
      ).map(async ([method, target]) => {
        const { status, text } = await call(url.href, { method, target });
        return status === 200 ? text : status;
      }),
    );
    expect(answers).toEqual(["GET /api", "GET /api/x", 404, 404, 405]);
    await tenant.client.triggers.delete("narrow");
    await eventually("the path is free", 2000, async () => (await call(url.href)).status === 404);
    await tenant.client.triggers.create({ name: "echo", function: "echo", type: "http" });
    await urlOf(tenant, "echo");
  });
});

describe("hosts", () => {
  it("that nobody has get 404 from the platform", async () => {
    for (const host of ["nobody.fn.localhost", "127.0.0.1", "example.com"]) {
      const answer = await callHost(host);
      expect([host, answer.status, answer.headers["x-sless-fault-source"]]).toEqual([host, 404, "platform"]);
    }
  });

  it("security 1: that are another's, or the platform's, are refused without naming anybody", async () => {
    const foreign = new URL(await urlOf(rival, "echo")).hostname;
    const hosts = [foreign, "x.fn.localhost", "fn.localhost", "api.example.com", `deep.${foreign}`];
    for (const [index, host] of hosts.entries()) {
      const name = `wish-${index}`;
      await tenant.client.triggers.create({ name, function: "echo", type: "http", http: { host } });
      const found = await untilReason(name, "HostNotAllowed");
      expect(found.status?.message).not.toContain(rival.namespace);
      expect(found.status?.url).toBeUndefined();
      await tenant.client.triggers.delete(name);
    }
    expect((await callHost(foreign)).text).toBe("the rival");
  });

  it("are the same in every spelling of the request", async () => {
    const host = new URL(await urlOf(rival, "echo")).hostname;
    for (const spelling of [host.toUpperCase(), `${host}.`]) expect((await callHost(spelling)).text).toBe("the rival");
  });

  it("security 1: go to one of two tenants that race for it", async () => {
    const host = "raced.example.com";
    await allowHost(tenant, host);
    await allowHost(rival, host);
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const name = `race-${round}`;
      await Promise.all(
        [tenant, rival].map(({ client }) =>
          client.triggers.create({ name, function: "echo", type: "http", http: { host } }),
        ),
      );
      const reasons = await eventually("one is active and the other is not", 5000, async () => {
        const found = await Promise.all([trigger(name, tenant), trigger(name, rival)]);
        const seen = found.map((one) => readyReason(one) ?? "").toSorted();
        return !seen.includes("") && !seen.includes("Pending") && seen;
      });
      expect(reasons).toEqual(["HostConflict", "Ready"]);
      await Promise.all([tenant, rival].map(({ client }) => client.triggers.delete(name)));
      await eventually("the host is free", 5000, async () => (await callHost(host)).status === 404);
    }
  });

  it("D28: stay with the first of two triggers, and go to the second once the first is gone", async () => {
    const host = "shared.example.com";
    await allowHost(tenant, host);
    await allowHost(rival, host);
    const body = { name: "shared", function: "echo", type: "http", http: { host } } as const;
    await tenant.client.triggers.create(body);
    await untilReason("shared", "Ready");
    await platform.kube.create(TRIGGERS, {
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Trigger",
      metadata: { name: "shared", namespace: rival.namespace },
      spec: { functionRef: { name: "echo" }, type: "http", enabled: true, http: { host, path: "/", methods: [] } },
    });
    const second = await untilReason("shared", "HostConflict", rival);
    expect(second.status?.message).not.toContain(tenant.namespace);
    expect((await callHost(host)).text).toBe("GET /");
    await tenant.client.triggers.delete("shared");
    await untilReason("shared", "Ready", rival);
    await eventually("the second has the host", 2000, async () => (await callHost(host)).text === "the rival");
  });
});
