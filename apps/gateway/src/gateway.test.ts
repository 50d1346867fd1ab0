import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { HEADERS } from "@sless/contracts";
import { echo, openRaw, sendRaw, startScriptedRuntime, type ScriptedRuntime } from "@sless/invoker/testing";
import { eventually } from "@sless/kube/testing";
import { request } from "undici";
import {
  editTrigger,
  HOST,
  moveTraffic,
  seedEndpoints,
  seedFunction,
  seedTrigger,
  startFixture,
  targetOf,
  type GatewayFixture,
} from "./testing/gateway-fixture.js";

const UID = "5f0c1a52-0000-4000-8000-000000000001";
const NEXT_UID = "5f0c1a52-0000-4000-8000-000000000002";

let fixture: GatewayFixture;
let pod: ScriptedRuntime;

beforeEach(async () => {
  [fixture, pod] = await Promise.all([startFixture(), startScriptedRuntime(UID)]);
  seedEndpoints(fixture.kube, UID, [pod]);
  seedFunction(fixture.kube, [targetOf(7, UID)]);
  seedTrigger(fixture.kube);
  await routed();
});
afterEach(() => Promise.all([fixture.gateway.stop(), pod.kill()]));

const call = async (path = "/", { host = HOST, method = "GET", headers = {}, body = "" } = {}) => {
  const options = { method: method as "GET", headers: { host, ...headers }, body: body === "" ? null : body };
  const answer = await request(fixture.publicUrl + path, options);
  const text = await answer.body.text();
  const json = (): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
  return { status: answer.statusCode, headers: answer.headers, text, json };
};
const routed = () => eventually("the host is known", async () => (await call()).status !== 404);
const contextOf = (headers: Record<string, unknown>): unknown =>
  JSON.parse(Buffer.from(String(headers[HEADERS.context]), "base64url").toString());

describe("a public call", () => {
  it("goes by host and path to the version that takes the traffic", async () => {
    const { status, headers, json } = await call("/a%2Fb/?b=c");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      [HEADERS.version]: "7",
      [HEADERS.requestId]: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(headers[HEADERS.versionUid]).toBeUndefined();
    expect(json()["url"]).toBe("/a%2Fb/?b=c");
  });

  it("security 19: carries a fresh request id, and the client's as an attribute", async () => {
    const forged = {
      "x-sless-request-id": "forged",
      "x-request-id": "mine",
      "x-forwarded-for": "6.6.6.6",
      forwarded: "for=6.6.6.6",
    };
    const { headers, json } = await call("/", { headers: { ...forged, "user-agent": "curl" } });
    const seen = json()["headers"] as Record<string, string>;
    expect(seen[HEADERS.requestId]).toBe(headers[HEADERS.requestId]);
    expect(seen["x-request-id"]).toBe("mine");
    expect(seen["x-forwarded-for"]).toBe("127.0.0.1");
    expect(seen["forwarded"]).toBeUndefined();
    expect(contextOf(seen)).toEqual({
      identity: { sourceIp: "127.0.0.1", userAgent: "curl" },
      host: HOST,
      trigger: { type: "http", name: "hello" },
      clientRequestId: "mine",
    });
  });

  it("security 19: a function's x-sless headers do not reach the client", async () => {
    pod.script = (_call, response) =>
      void response.setHeader("x-sless-version", "99").setHeader("x_sless_fault", "busy").end();
    const { headers } = await call();
    expect(headers[HEADERS.version]).toBe("7");
    expect(Object.keys(headers).filter((name) => name.includes("sless"))).toEqual([HEADERS.requestId, HEADERS.version]);
  });

  it.each(["OPTIONS", "PUT", "PATCH", "DELETE"])("R15: %s reaches the function by default", async (method) => {
    pod.script = (received, response) => void response.writeHead(204, { "x-m": received.method }).end();
    const { status, headers } = await call("/", { method, headers: { origin: "https://a.test" } });
    expect([status, headers["x-m"]]).toEqual([204, method]);
  });

  it("R15: answers 405 with Allow for a method that the trigger does not take", async () => {
    await editTrigger(fixture.kube, { http: { methods: ["GET", "POST"] } });
    await eventually("the methods are known", async () => (await call("/", { method: "PUT" })).status === 405);
    const { headers, json } = await call("/", { method: "PUT" });
    expect(headers["allow"]).toBe("GET, POST");
    expect(json()).toMatchObject({
      status: 405,
      reason: "method-not-allowed",
      detail: "The trigger takes GET, POST, not PUT.",
    });
  });

  it("answers 404 alike for a host that nobody holds and a path that leads nowhere", async () => {
    await editTrigger(fixture.kube, { http: { path: "/api" } });
    await eventually("the path is known", async () => (await call("/")).status === 404);
    const answers = await Promise.all([
      call("/"),
      call("/", { host: "nobody.fn.test" }),
      call("/", { host: "10.0.0.1" }),
    ]);
    for (const { status, headers, json } of answers) {
      expect(status).toBe(404);
      expect(headers["content-type"]).toBe("application/problem+json");
      expect(json()).toEqual({
        ...{ type: "/errors#not-found", title: "Not found", status: 404, reason: "unmatched" },
        ...{
          detail: "No function answers at this host and path.",
          error: "No function answers at this host and path.",
        },
        request_id: headers[HEADERS.requestId],
      });
    }
  });

  it("reaches one version by the host of its tag, and splits the rest by percent", async () => {
    const next = await startScriptedRuntime(NEXT_UID);
    seedEndpoints(fixture.kube, NEXT_UID, [next], "slice-2");
    await moveTraffic(fixture.kube, [
      targetOf(7, UID, { percent: 80 }),
      targetOf(8, NEXT_UID, { percent: 20, tag: "beta" }),
    ]);
    await eventually(
      "the tag's host is known",
      async () => (await call("/", { host: `beta--${HOST}` })).status === 200,
    );
    expect((await call("/", { host: `beta--${HOST}` })).headers[HEADERS.version]).toBe("8");
    const versions = await Promise.all(Array.from({ length: 50 }, async () => (await call()).headers[HEADERS.version]));
    expect(versions.filter((version) => version === "8")).toHaveLength(10);
    await next.kill();
  });

  it("ends at once when its trigger is disabled", async () => {
    await editTrigger(fixture.kube, { enabled: false });
    await eventually("it is closed", async () => (await call()).status === 404);
  });

  it("answers 503 while the function has no version", async () => {
    await moveTraffic(fixture.kube, []);
    await eventually("no version answers", async () => (await call()).status === 503);
    const { headers, json } = await call();
    expect(headers).toMatchObject({
      "retry-after": "5",
      [HEADERS.faultSource]: "platform",
      [HEADERS.fault]: "not-serving",
    });
    expect(json()["type"]).toBe("/errors#unavailable");
  });

  it("answers 501 to a WebSocket, and ignores other upgrades", async () => {
    const ask = (upgrade: string) =>
      sendRaw(
        fixture.publicPort,
        `GET / HTTP/1.1\r\nhost: ${HOST}\r\nconnection: upgrade, close\r\nupgrade: ${upgrade}\r\n\r\n`,
      );
    expect(await ask("websocket")).toMatch(/^HTTP\/1.1 501/);
    expect(await ask("h2c")).toMatch(/^HTTP\/1.1 200/);
  });

  it("D37: counts calls in a bounded number of series", async () => {
    const scrape = async () => {
      const { port } = fixture.gateway.healthAddress;
      const answer = await request(`http://127.0.0.1:${port}/metrics`);
      return (await answer.body.text()).split("\n").filter((line) => line.startsWith("sless_gateway"));
    };
    await call("/", { host: "nobody.fn.test" });
    const before = await scrape();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        call(`/${index}`, { host: `x${index}.fn.test`, method: `ODD${index % 5}` }).catch(() => undefined),
      ),
    );
    expect(await scrape()).toHaveLength(before.length);
    expect(before).toContainEqual(
      expect.stringMatching(/function_calls_total\{function="sless-0123456789abcdef\/hello",outcome="ok".*\} \d+/),
    );
    expect(before).toContainEqual(expect.stringMatching(/^sless_gateway_call_seconds_bucket\{le="\+Inf".*\} \d+/));
  });
});

describe("a fault", () => {
  it("R22: of the function is a problem with type and message, without a stack or paths", async () => {
    pod.script = (_call, response) => {
      response.writeHead(502, { [HEADERS.fault]: "handler-error" });
      response.end(
        JSON.stringify({ errorType: "TypeError", errorMessage: "no x", stackTrace: ["at /srv/secret/x.js:1"] }),
      );
    };
    const { status, headers, text, json } = await call();
    expect(status).toBe(502);
    expect(headers).toMatchObject({
      "content-type": "application/problem+json",
      [HEADERS.faultSource]: "function",
      [HEADERS.fault]: "handler-error",
      [HEADERS.version]: "7",
    });
    expect(json()).toMatchObject({
      type: "/errors#function-failed",
      error_type: "TypeError",
      detail: "no x",
      error: "no x",
    });
    expect(text).not.toContain("secret");
  });

  it("of the platform is told apart: no instance", async () => {
    await fixture.gateway.stop();
    fixture = await startFixture({ SLESS_QUEUE_SECONDS: "0" });
    seedFunction(fixture.kube, [targetOf(7, UID)]);
    seedTrigger(fixture.kube);
    await routed();
    const { status, headers } = await call();
    expect(status).toBe(503);
    expect(headers).toMatchObject({
      "retry-after": "5",
      [HEADERS.faultSource]: "platform",
      [HEADERS.fault]: "no-instance",
    });
  });

  it("D40: a call whose pod dies carries its request id", async () => {
    pod.script = (_call, _response, socket) => void socket.resetAndDestroy();
    const { status, json, headers } = await call("/", { method: "POST", body: "x" });
    expect([status, json()["request_id"]]).toEqual([502, headers[HEADERS.requestId]]);
    expect(pod.calls).toHaveLength(2);
    pod.script = echo;
  });

  it("R03: 413 for a body above the limit is read by a client that goes on sending", async () => {
    const { status, json } = await call("/", { method: "POST", body: "x".repeat(6 * 1024 * 1024 + 1) });
    expect([status, json()["reason"]]).toEqual([413, "body-too-large"]);
  });
});

describe("security 19: a request that could be read in two ways", () => {
  const head = (...lines: string[]): string => [...lines, "", ""].join("\r\n");

  it.each([
    ["two Host headers", head("GET / HTTP/1.1", `host: ${HOST}`, "host: other.test")],
    ["a Host that is none", head("GET / HTTP/1.1", "host: a b")],
    ["no Host", head("GET / HTTP/1.1")],
    ["HTTP/1.0 without Host", head("GET / HTTP/1.0")],
    [
      "length and chunks",
      head("POST / HTTP/1.1", `host: ${HOST}`, "content-length: 3", "transfer-encoding: chunked") + "0\r\n\r\n",
    ],
    ["two lengths", head("POST / HTTP/1.1", `host: ${HOST}`, "content-length: 3", "content-length: 4") + "abcd"],
    [
      "a coding beside chunked",
      head("POST / HTTP/1.1", `host: ${HOST}`, "transfer-encoding: gzip, chunked") + "0\r\n\r\n",
    ],
    ["chunks in HTTP/1.0", head("POST / HTTP/1.0", `host: ${HOST}`, "transfer-encoding: chunked") + "0\r\n\r\n"],
    [
      "chunks that are none",
      head("POST / HTTP/1.1", `host: ${HOST}`, "transfer-encoding: chunked") + "zz\r\n{}\r\n0\r\n\r\n",
    ],
    ["a space before the colon", head("GET / HTTP/1.1", `host : ${HOST}`)],
    ["a folded header", head("GET / HTTP/1.1", `host: ${HOST}`, "x-a: 1", " 2")],
    ["a target that is no path", head("OPTIONS * HTTP/1.1", `host: ${HOST}`)],
    ["no HTTP", "hello\r\n\r\n"],
  ])("%s: 400, and the connection closes", async (_name, bytes) => {
    const before = pod.calls.length;
    const answer = await sendRaw(fixture.publicPort, bytes + head("GET /smuggled HTTP/1.1", `host: ${HOST}`));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1);
    expect(pod.calls).toHaveLength(before);
  });

  it("takes the authority of an absolute target before Host", async () => {
    const answer = await sendRaw(
      fixture.publicPort,
      head(`GET http://${HOST}/a?b HTTP/1.1`, "host: other.test", "connection: close"),
    );
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    expect(pod.calls.at(-1)).toMatchObject({ url: "/a?b", headers: { host: HOST } });
  });

  it("answers 431 to a head that is too large", async () => {
    const answer = await sendRaw(
      fixture.publicPort,
      head("GET / HTTP/1.1", `host: ${HOST}`, `x-a: ${"x".repeat(40_000)}`),
    );
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain("application/problem+json");
  });

  it("asks for a body only when it will be read", async () => {
    const expecting = (length: number) =>
      head(
        "POST / HTTP/1.1",
        `host: ${HOST}`,
        `content-length: ${length}`,
        "expect: 100-continue",
        "connection: close",
      );
    const refused = await openRaw(fixture.publicPort);
    let answer = "";
    refused.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    refused.write(expecting(100_000_000));
    await eventually("it is answered", () => answer.includes("\r\n\r\n"));
    expect(answer).toMatch(/^HTTP\/1.1 413/);
    refused.destroy();
    const taken = await openRaw(fixture.publicPort);
    let second = "";
    taken.on("data", (chunk: Buffer) => (second += chunk.toString()));
    taken.write(expecting(5));
    await eventually("the body is asked for", () => second.startsWith("HTTP/1.1 100 Continue"));
    taken.write("hello");
    await eventually("it is answered", () => second.includes("HTTP/1.1 200"));
    taken.destroy();
  });
});

describe("the end of a gateway", () => {
  it("H9: drops no call under way, refuses readiness first, and asks clients to go elsewhere", async () => {
    let finish: () => void = () => undefined;
    pod.script = async (_call, response) => {
      await new Promise<void>((resolve) => (finish = resolve));
      response.end("done");
    };
    const before = pod.calls.length;
    const underWay = call();
    await eventually("the call is under way", () => pod.calls.length > before);
    const stopped = fixture.gateway.stop();
    const ready = await request(`http://127.0.0.1:${fixture.gateway.healthAddress.port}/readyz`);
    expect([ready.statusCode, await ready.body.json()]).toEqual([503, { ok: false, reason: "draining" }]);
    finish();
    const { status, text } = await underWay;
    expect([status, text]).toEqual([200, "done"]);
    await stopped;
    fixture = await startFixture();
  });

  it("cuts what is left when its time is over", async () => {
    await fixture.gateway.stop();
    fixture = await startFixture({ SLESS_DRAIN_SECONDS: "0" });
    seedEndpoints(fixture.kube, UID, [pod]);
    seedFunction(fixture.kube, [targetOf(7, UID)]);
    seedTrigger(fixture.kube);
    await routed();
    pod.script = () => new Promise(() => undefined);
    const before = pod.calls.length;
    const endless = call().catch((error: unknown) => error);
    await eventually("the call is under way", () => pod.calls.length > before);
    await fixture.gateway.stop();
    expect(await endless).toBeInstanceOf(Error);
    fixture = await startFixture();
  });
});

describe("while the API server is away", () => {
  it("goes on serving by what it knows", async () => {
    const heal = ["Function", "Trigger", "EndpointSlice"].flatMap((kind) => [
      fixture.kube.failOn("watch", kind),
      fixture.kube.failOn("list", kind),
    ]);
    fixture.kube.failOn("apply", "GatewayReport");
    expect((await call()).status).toBe(200);
    heal.forEach((end) => end());
  });
});
