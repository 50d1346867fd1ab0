import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  FUNCTIONS as FUNCTION_KIND,
  TRIGGERS as TRIGGER_KIND,
  type KubeObject,
  type ResourceType,
} from "@sless/contracts";
import { eventually } from "@sless/kube/testing";
import { startApiFixture, type ApiFixture } from "../testing/api-fixture.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const TRIGGERS = "/v1/namespaces/me/triggers";
const HELLO = { runtime: "nodejs20", entrypoint: "index.handler" };

describe("waits", () => {
  let api: ApiFixture;
  let token: string;
  let namespace: string;
  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
    namespace = (await api.call("GET", "/v1/whoami", { token })).body.namespace;
  });
  afterAll(() => api.close());

  const create = async (name: string): Promise<number> =>
    Number((await api.call("POST", FUNCTIONS, { token, json: { name, ...HELLO } })).body.generation);

  const markReady = (
    resource: ResourceType<KubeObject>,
    name: string,
    [status, reason, observedGeneration]: readonly ["True" | "False", string, number],
  ) => {
    const condition = {
      type: "Ready",
      status,
      reason,
      message: "because",
      observedGeneration,
      lastTransitionTime: new Date().toISOString(),
    };
    return api.cluster.kube.patchStatus(resource, { namespace, name }, { conditions: [condition], observedGeneration });
  };

  it("answers when the last write is ready, woken by the watch", async () => {
    const generation = await create("soon");
    const waiting = api.call("GET", `${FUNCTIONS}/soon?wait=ready&timeout=20`, { token });
    await markReady(FUNCTION_KIND, "soon", ["True", "Ready", generation - 1]);
    await markReady(FUNCTION_KIND, "soon", ["True", "Ready", generation]);
    const { status, headers, body } = await waiting;
    expect({ status, ended: headers["x-sless-wait"] }).toEqual({ status: 200, ended: "done" });
    expect(body.status.conditions[0]).toMatchObject({ status: "True" });
  });

  it("R7: ends at once on a failure that lasts, and says why", async () => {
    const generation = await create("broken");
    await markReady(FUNCTION_KIND, "broken", ["False", "LoadError", generation]);
    const startedAt = performance.now();
    const { headers, body } = await api.call("GET", `${FUNCTIONS}/broken?wait=ready&timeout=60`, { token });
    expect(headers["x-sless-wait"]).toBe("failed");
    expect(body.status.conditions[0]).toMatchObject({ reason: "LoadError", message: "because" });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("takes no older state for the write that is waited for", async () => {
    const generation = await create("stale");
    await markReady(FUNCTION_KIND, "stale", ["True", "Ready", generation]);
    const query = `wait=ready&timeout=1&generation=${generation + 1}`;
    expect((await api.call("GET", `${FUNCTIONS}/stale?${query}`, { token })).headers["x-sless-wait"]).toBe("timeout");
    await api.call("PATCH", `${FUNCTIONS}/stale`, { token, json: { memory_mb: 256 } });
    const { headers } = await api.call("GET", `${FUNCTIONS}/stale?wait=ready&timeout=1`, { token });
    expect(headers["x-sless-wait"]).toBe("timeout");
  });

  it("answers 204 when it is gone, also when it was before", async () => {
    await create("leaving");
    const waiting = api.call("GET", `${FUNCTIONS}/leaving?wait=gone&timeout=20`, { token });
    await api.call("DELETE", `${FUNCTIONS}/leaving`, { token });
    expect(await waiting).toMatchObject({ status: 204, headers: { "x-sless-wait": "done" } });
    expect(await api.call("GET", `${FUNCTIONS}/leaving?wait=gone`, { token })).toMatchObject({ status: 204 });
    expect(await api.call("GET", `${FUNCTIONS}/leaving?wait=ready`, { token })).toMatchObject({ status: 404 });
  });

  it("counts a disabled trigger as what was asked for", async () => {
    const json = { name: "off", function: "soon", type: "http", enabled: false };
    const { body } = await api.call("POST", TRIGGERS, { token, json });
    await markReady(TRIGGER_KIND, "off", ["False", "Disabled", body.generation]);
    const { headers } = await api.call("GET", `${TRIGGERS}/off?wait=ready&timeout=20`, { token });
    expect(headers["x-sless-wait"]).toBe("done");
  });

  it("security 25: a wait ends with its token", async () => {
    await create("long");
    const short = api.issuer.token("alice", { exp: Date.now() / 1000 + 1 });
    expect(await api.call("GET", `${FUNCTIONS}/long?wait=ready&timeout=60`, { token: short })).toMatchObject({
      status: 401,
    });
  });

  it("security 9: one tenant's waits leave room for another's, and a replica that drains ends them", async () => {
    const replica = await api.addReplica();
    await create("held");
    const bob = api.issuer.token("bob");
    await api.call("POST", FUNCTIONS, { token: bob, json: { name: "held", ...HELLO } });
    const path = `${FUNCTIONS}/held?wait=ready&timeout=60`;
    const held = Array.from({ length: 10 }, () => api.call("GET", path, { token, replica }));
    await eventually("the share is used up", async () => {
      const { status } = await api.call("GET", `${FUNCTIONS}/held?wait=ready&timeout=1`, { token, replica });
      return status === 429;
    });
    const bobs = await api.call("GET", `${FUNCTIONS}/held?wait=ready&timeout=1`, { token: bob, replica });
    expect(bobs).toMatchObject({ status: 200, headers: { "x-sless-wait": "timeout" } });
    replica.drain();
    const ended = await Promise.all(held);
    expect(ended.every(({ status, headers }) => status === 503 && headers["retry-after"] === "1")).toBe(true);
  });
});

describe("triggers", () => {
  let api: ApiFixture;
  let token: string;
  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
  });
  afterAll(() => api.close());

  const create = (name: string, more: object = {}) =>
    api.call("POST", TRIGGERS, { token, json: { name, function: "hello", type: "http", ...more } });

  it("creates before its function, patches, replaces, lists and deletes", async () => {
    expect(await create("web", { http: { path: "/a", methods: ["GET"] } })).toMatchObject({
      status: 201,
      body: { enabled: true, http: { path: "/a" } },
    });
    const patched = await api.call("PATCH", `${TRIGGERS}/web`, {
      token,
      json: { enabled: false, http: { path: null, host: "api.example.com" } },
    });
    expect(patched.body).toMatchObject({
      enabled: false,
      http: { host: "api.example.com", path: "/", methods: ["GET"] },
    });
    const replaced = await api.call("PUT", `${TRIGGERS}/web`, { token, json: { function: "other", type: "http" } });
    expect(replaced.body).toMatchObject({ function: "other", enabled: true, http: { path: "/", methods: [] } });
    expect(replaced.body.http).not.toHaveProperty("host");
    expect((await api.call("GET", TRIGGERS, { token })).body.items).toHaveLength(1);
    expect(await api.call("DELETE", `${TRIGGERS}/web`, { token })).toMatchObject({ status: 204 });
  });

  it.each([
    { name: "upper case", host: "API.example.com" },
    { name: "a port", host: "api.example.com:443" },
    { name: "a trailing dot", host: "api.example.com." },
    { name: "an address", host: "127.0.0.1" },
    { name: "a wildcard", host: "*.example.com" },
    { name: "white space", host: "api.example.com\n" },
  ])("security 1: refuses a host with $name", async ({ host }) => {
    expect(await create("odd", { http: { host } })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/http/host" }] },
    });
  });

  it.each(["/a`b", '/a"b', "/a\nb", "/a b", "no-slash", "/a?b"])("security 2: refuses the path %j", async (path) => {
    expect(await create("odd", { http: { path } })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/http/path" }] },
    });
  });
});
