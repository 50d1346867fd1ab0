import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { HEADERS } from "@sless/contracts";
import { startScriptedRuntime, type ScriptedRuntime } from "@sless/invoker/testing";
import { eventually } from "@sless/kube/testing";
import { TENANT_NAMESPACE } from "@sless/testing";
import jwt from "jsonwebtoken";
import { request } from "undici";
import {
  INTERNAL_KEY,
  seedEndpoints,
  seedFunction,
  startFixture,
  targetOf,
  type GatewayFixture,
} from "../testing/gateway-fixture.js";

const UID = "5f0c1a52-0000-4000-8000-000000000001";

let fixture: GatewayFixture;
let pod: ScriptedRuntime;
beforeEach(async () => {
  [fixture, pod] = await Promise.all([startFixture(), startScriptedRuntime(UID)]);
  seedEndpoints(fixture.kube, UID, [pod]);
  seedFunction(fixture.kube, [targetOf(7, UID, { tag: "beta" })]);
  await eventually("the function is known", async () => (await invoke("hello")).status === 200);
});
afterEach(() => Promise.all([fixture.gateway.stop(), pod.kill()]));

const tokenOf = (ns = TENANT_NAMESPACE, key = INTERNAL_KEY): string => {
  const iat = Math.floor(Date.now() / 1000);
  return jwt.sign({ aud: "sless-gateway", sub: "alice", ns, iat, exp: iat + 30 }, key);
};
const invoke = async (path: string, headers: Record<string, string> = {}, token = tokenOf(), ns = TENANT_NAMESPACE) => {
  const answer = await request(`${fixture.internalUrl}/invoke/${ns}/${path}`, {
    method: "POST",
    headers: { [HEADERS.caller]: token, ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
};

describe("the internal listener", () => {
  it("makes the call that the API forwards, with the rest of the path raw", async () => {
    const { status, headers } = await invoke("hello/a%2Fb/?x=1", { "x-forwarded-for": "198.51.100.7" });
    expect([status, headers[HEADERS.version]]).toEqual([200, "7"]);
    const received = pod.calls.at(-1);
    expect(received?.url).toBe("/a%2Fb/?x=1");
    const context: unknown = JSON.parse(
      Buffer.from(String(received?.headers[HEADERS.context]), "base64url").toString(),
    );
    expect(context).toMatchObject({
      caller: "alice",
      trigger: { type: "invoke" },
      identity: { sourceIp: "198.51.100.7" },
    });
  });

  it.each([
    ["hello", "/"],
    ["hello?x=1", "/?x=1"],
    ["hello/", "/"],
  ])("R14: %s is seen as %s", async (path, seen) => {
    await invoke(path);
    expect(pod.calls.at(-1)?.url).toBe(seen);
  });

  it("security 20: keeps credentials from the function", async () => {
    await invoke("hello", { authorization: "Bearer secret", cookie: "session=1" });
    const headers = pod.calls.at(-1)?.headers ?? {};
    expect([headers.authorization, headers.cookie, headers[HEADERS.caller]]).toEqual([undefined, undefined, undefined]);
  });

  it("security 20: answers can't act on the API's origin", async () => {
    pod.script = (_call, response) => {
      response.writeHead(200, {
        "set-cookie": "a=1",
        "strict-transport-security": "max-age=1",
        "clear-site-data": '"*"',
        "service-worker-allowed": "/",
        "x-content-type-options": "off",
        "content-type": "text/html",
      });
      response.end("<script>");
    };
    const { headers } = await invoke("hello");
    expect(headers).toMatchObject({ "content-security-policy": "sandbox", "x-content-type-options": "nosniff" });
    for (const name of ["set-cookie", "strict-transport-security", "clear-site-data", "service-worker-allowed"]) {
      expect(headers[name]).toBeUndefined();
    }
  });

  it.each([
    ["another key", 401, () => tokenOf(TENANT_NAMESPACE, "another key"), TENANT_NAMESPACE],
    ["another tenant's namespace", 403, () => tokenOf(), "sless-fedcba9876543210"],
  ])("refuses %s", async (_name, status, token, ns) => {
    const before = pod.calls.length;
    expect((await invoke("hello", {}, token(), ns)).status).toBe(status);
    expect(pod.calls).toHaveLength(before);
  });

  it.each([
    ["beta", undefined, 200],
    ["gamma", undefined, 404],
    [undefined, "7", 200],
    [undefined, "8", 404],
    ["beta", "8", 404],
  ])("takes the version of tag %s and number %s: %s", async (tag, version, status) => {
    const headers = {
      ...(tag === undefined ? {} : { [HEADERS.invokeTag]: tag }),
      ...(version === undefined ? {} : { [HEADERS.invokeVersion]: version }),
    };
    expect((await invoke("hello", headers)).status).toBe(status);
  });

  it("answers 404 for a function or path that is not there", async () => {
    expect((await invoke("absent")).status).toBe(404);
    const answer = await request(`${fixture.internalUrl}/`, { headers: { [HEADERS.caller]: tokenOf() } });
    expect(answer.statusCode).toBe(404);
    await answer.body.dump();
  });
});
