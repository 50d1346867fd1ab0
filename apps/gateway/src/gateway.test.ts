import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { startScriptedRuntime, type ScriptedRuntime } from "@sless/invoker/testing";
import { request } from "undici";
import {
  HOST,
  seedEndpoints,
  seedFunction,
  seedTrigger,
  startFixture,
  targetOf,
  type GatewayFixture,
} from "./testing/gateway-fixture.js";

const UID = "5f0c1a52-0000-4000-8000-000000000001";

let fixture: GatewayFixture;
let pod: ScriptedRuntime;

beforeEach(async () => {
  [fixture, pod] = await Promise.all([startFixture(), startScriptedRuntime(UID)]);
});
afterEach(() => Promise.all([fixture.gateway.stop(), pod.kill()]));

const serve = (): void => {
  seedEndpoints(fixture.kube, UID, [pod]);
  seedFunction(fixture.kube, [targetOf(7, UID)]);
  seedTrigger(fixture.kube);
};

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await request(fixture.publicUrl + path, { headers: { host: HOST, ...headers } });
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as any };
};

describe("gateway", () => {
  it("brings a call by host and path to the version that takes the traffic", async () => {
    serve();
    const { status, headers, body } = await get("/a?b=c");
    expect(status).toBe(200);
    expect(headers["x-sless-version"]).toBe("7");
    expect(body.url).toBe("/a?b=c");
  });
});
