import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { namespaces } from "@sless/kube";
import { text } from "node:stream/consumers";
import { eventually } from "../harness/eventually.js";
import { answering, deploy } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

let platform: TestPlatform;
let alice: Tenant;
let bob: Tenant;
const urls: string[] = [];
beforeAll(async () => {
  platform = await startPlatform();
  alice = platform.tenant("alice");
  bob = platform.tenant("bob");
  urls.push(
    ...(await Promise.all([deploy(alice, "hello", answering("alice's")), deploy(bob, "hello", answering("bob's"))])),
  );
});
afterAll(() => platform.stop());

const asAlice = (path: string, method = "GET", body?: string) =>
  call(`${platform.endpoint}/v1/namespaces/${bob.namespace}${path}`, {
    method,
    headers: { authorization: `Bearer ${alice.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });

describe("two tenants", () => {
  it("have functions of the same name that do not touch", async () => {
    expect(await Promise.all(urls.map(async (url) => (await call(url)).text))).toEqual(["alice's", "bob's"]);
    const lists = await Promise.all([alice, bob].map(async ({ client }) => (await client.functions.list()).items));
    expect(lists.map((items) => items.map(({ name }) => name))).toEqual([["hello"], ["hello"]]);
    for (const { client } of [alice, bob])
      expect(await text((await client.functions.invoke("hello")).body)).toMatch(/'s$/);
  });

  it.each([
    ["GET", "/functions"],
    ["GET", "/functions/hello"],
    ["GET", "/functions/absent"],
    ["GET", "/functions/hello/versions"],
    ["GET", "/functions/hello/logs"],
    ["GET", "/triggers/hello"],
    ["POST", "/functions/hello/invoke"],
    ["DELETE", "/functions/hello"],
  ])("cannot reach each other's things: %s %s", async (method, path) => {
    const answer = await asAlice(path, method);
    expect(answer.status).toBe(403);
    expect(answer.text).not.toMatch(/bob|hello-0/);
  });

  it("security 7: cannot remove a namespace but their own, whatever name they give", async () => {
    const wanted = ["sless", "default", "kube-system", bob.namespace, bob.workloads];
    for (const name of wanted) {
      const answer = await call(`${platform.endpoint}/v1/namespaces/${name}?confirm=${name}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${alice.token}` },
      });
      expect([name, answer.status]).toEqual([name, 403]);
    }
    const left = (await platform.kube.list(namespaces)).items.map(({ metadata }) => metadata.name);
    expect(left).toEqual(expect.arrayContaining(["sless", "default", bob.namespace, bob.workloads]));
  });

  it("keep their namespace when everything in it is deleted, and lose it by the confirmed call alone", async () => {
    const carol = platform.tenant("carol");
    await deploy(carol, "short", answering("x"));
    await carol.client.triggers.delete("short");
    await carol.client.functions.delete("short");
    await carol.client.functions.gone("short", { timeout: 20 });
    await platform.kube.get(namespaces, { name: carol.namespace });

    const unconfirmed = await call(`${platform.endpoint}/v1/namespaces/${carol.namespace}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${carol.token}` },
    });
    expect(unconfirmed.status).toBe(400);
    await platform.kube.get(namespaces, { name: carol.namespace });
    await carol.client.deleteNamespace(carol.namespace);
    await eventually("both namespaces are gone", 20_000, async () => {
      const left = (await platform.kube.list(namespaces)).items.map(({ metadata }) => metadata.name);
      return !left.includes(carol.namespace) && !left.includes(carol.workloads);
    });
    expect((await call(urls[1] ?? "")).text).toBe("bob's");
  });

  it("security 31: the cluster's own API refuses who lacks the installation's secret", async () => {
    const { urls: at } = platform.cluster;
    for (const url of [`${at.api}/api/v1/namespaces`, `${at.registry}/v2/`, `${at.s3}/sless`]) {
      const { status } = await call(url, { headers: { authorization: `Bearer ${alice.token}` } });
      expect([url, [401, 403, 400].includes(status)]).toEqual([url, true]);
    }
    const rebound = await call(`${platform.endpoint}/v1/whoami`, {
      headers: { authorization: `Bearer ${alice.token}`, host: "evil.example.com" },
    });
    expect(rebound.headers["access-control-allow-origin"]).toBeUndefined();
  });
});
