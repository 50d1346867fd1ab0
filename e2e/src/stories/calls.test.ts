import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { gunzipSync } from "node:zlib";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { pods } from "@sless/kube";
import { eventually } from "../harness/eventually.js";
import { deploy, nodeFiles } from "../harness/functions.js";
import { call, open, type CallOptions } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

const MIB = 1024 * 1024;
const LIMIT = 6 * MIB;

/** Answers by its path, so that one function serves every row. */
const HANDLER = `
import { gzipSync } from "node:zlib";
const counts = new Map();
const routes = {
  "/empty": ({ httpMethod }) => ({ statusCode: 204, headers: { "access-control-allow-origin": "*", "x-m": httpMethod } }),
  "/five": () => ({ statusCode: 200, headers: { "x-own": "1" }, body: "12345" }),
  "/length": ({ body, isBase64Encoded }) => String(Buffer.from(body, isBase64Encoded ? "base64" : "utf8").length),
  "/gzip": () => ({ statusCode: 200, headers: { "content-type": "application/json", "content-encoding": "gzip" },
    isBase64Encoded: true, body: gzipSync('{"hello":"world"}').toString("base64") }),
  "/bytes": ({ body, isBase64Encoded }) => ({ statusCode: 200, headers: { "content-type": "application/octet-stream" },
    isBase64Encoded: true, body: isBase64Encoded ? body : Buffer.from(body).toString("base64") }),
  "/hop": () => ({ statusCode: 200, headers: { connection: "x-drop", "x-drop": "1", "x-keep": "1" }, body: "x" }),
  "/cookie": () => ({ statusCode: 200, headers: { "set-cookie": "a=b", "strict-transport-security": "max-age=1" }, body: "x" }),
  "/count": ({ headers }) => String(counts.get(headers["x-key"]) ?? 0),
  "/slow": () => new Promise((resolve) => setTimeout(resolve, 10_000)),
  "/exit": () => process.exit(3),
  "/stream": async function* () {
    for (let n = 0; n < 5; n++) { yield String(n); await new Promise((resolve) => setTimeout(resolve, 100)); }
  },
};
export const handler = (event) => {
  const key = event.headers["x-key"];
  if (event.path !== "/count") counts.set(key, (counts.get(key) ?? 0) + 1);
  const route = routes[event.path];
  return route ? route(event) : { statusCode: 200, body: event };
};`;

let platform: TestPlatform;
let tenant: Tenant;
let url: string;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("calls");
  url = await deploy(tenant, "calls", nodeFiles(HANDLER), { timeout_sec: 2, scale: { min: 1, concurrency: 10 } });
});
afterAll(() => platform.stop());

const get = (target: string, options: CallOptions = {}) => call(url, { target, ...options });
const invoke = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await tenant.client.functions.invoke("calls", { method: "GET", path, headers });
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer.body) };
};

describe("paths and queries reach the function raw", () => {
  const TARGETS = [
    "/items/bar%2Fsub/1",
    "//a///b",
    "/fn/",
    "/fn",
    "/fn/category/123?x=1",
    "/a/../b",
    "/%2e%2e/x",
    "/?q=%20+",
  ];
  it.each(TARGETS)("R13, R14: %s, by trigger and by invoke alike", async (target) => {
    const direct = (await get(target)).json();
    expect(direct["path"]).toBe(target.split("?")[0]);
    const invoked = JSON.parse((await invoke(target)).body.toString()) as Record<string, unknown>;
    expect(invoked["path"]).toBe(direct["path"]);
    expect(invoked["multiValueQueryStringParameters"]).toEqual(direct["multiValueQueryStringParameters"]);
  });

  it.each(["/livez", "/readyz", "/state", "/drain", "/specialise", "/metrics", "/healthz"])(
    "security 13: %s of the control port is the handler's on the call port",
    async (path) => {
      expect((await get(path)).json()["path"]).toBe(path);
      expect(JSON.parse((await invoke(path)).body.toString())).toMatchObject({ path });
    },
  );
});

describe("methods", () => {
  it.each(["OPTIONS", "PUT", "PATCH", "DELETE"])("R15: %s reaches the handler", async (method) => {
    const answer = await get("/empty", { method, headers: { origin: "https://example.com" } });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers["x-m"]).toBe(method);
  });

  it("R16: HEAD has the headers of GET, no body, and the next call on the connection is whole", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const head = await get("/five", { method: "HEAD", agent });
    const body = await get("/five", { agent });
    agent.destroy();
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers["content-length"] ?? "5").toBe("5");
    expect(head.headers["x-own"]).toBe("1");
    expect(body.text).toBe("12345");
  });
});

describe("bodies", () => {
  it.each(["application/json", "application/octet-stream", "text/plain", "application/x-www-form-urlencoded"])(
    "R03: 1 MiB of %s arrives; one byte above the limit is 413 from the gateway",
    async (type) => {
      const headers = { "content-type": type };
      const fits = await get("/length", { method: "POST", body: "x".repeat(MIB), headers });
      expect(fits.text).toBe(String(MIB));
      const key = `R03 ${type}`;
      const above = await get("/length", {
        method: "POST",
        body: "x".repeat(LIMIT + 1),
        headers: { ...headers, "x-key": key },
      });
      expect(above.status).toBe(413);
      expect(above.headers["x-sless-fault-source"]).toBe("platform");
      expect((await get("/count", { headers: { "x-key": key } })).text).toBe("0");
    },
  );

  it("D39: gzip, random bytes and 204 are the same by trigger and by invoke, and hop-by-hop headers end", async () => {
    for (const answer of [await get("/gzip"), await invoke("/gzip")]) {
      expect(answer.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(answer.body).toString()).toBe('{"hello":"world"}');
    }
    const bytes = randomBytes(MIB);
    const direct = await get("/bytes", { method: "POST", body: bytes });
    expect(direct.body.equals(bytes)).toBe(true);
    expect(direct.headers["content-length"]).toBe(String(MIB));
    const invoked = await tenant.client.functions.invoke("calls", { path: "/bytes", body: bytes });
    expect((await buffer(invoked.body)).equals(bytes)).toBe(true);
    for (const answer of [await get("/hop"), await invoke("/hop")]) {
      expect(answer.headers["x-keep"]).toBe("1");
      expect(answer.headers["x-drop"]).toBeUndefined();
    }
    expect((await invoke("/empty")).status).toBe(204);
  });

  it("streams as it is made", async () => {
    const response = await open(url, { target: "/stream" });
    const arrivals: number[] = [];
    let text = "";
    for await (const chunk of response as AsyncIterable<Buffer>) {
      arrivals.push(performance.now());
      text += chunk.toString();
    }
    expect(text).toBe("01234");
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(250);
  });
});

describe("headers", () => {
  it("security 19: the platform's are dropped from requests, in every spelling", async () => {
    const headers = {
      "x-sless-version-uid": "fake",
      x_sless_context: "fake",
      "x-sless-request-id": "mine",
      "x-own": "1",
    };
    const seen = (await get("/headers", { headers })).json()["headers"] as Record<string, string>;
    expect(Object.keys(seen).filter((name) => /^x[-_]sless/.test(name))).toEqual([]);
    expect(seen["x-own"]).toBe("1");
  });

  it("security 20: invoke passes on neither token nor cookie, and takes from answers what could harm the API's origin", async () => {
    const seen = JSON.parse((await invoke("/headers", { cookie: "a=b" })).body.toString()) as {
      headers: Record<string, string>;
    };
    expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(["authorization"]));
    expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(["cookie"]));
    const { headers } = await invoke("/cookie");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(headers["strict-transport-security"]).toBeUndefined();
    expect(headers["content-security-policy"]).toContain("sandbox");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect((await get("/cookie")).headers["set-cookie"]).toEqual(["a=b"]);
  });
});

describe("what a request carries", () => {
  it("R10: repeated and empty query keys arrive whole", async () => {
    expect((await get("/?id=1&id=2&q=value&e=&f")).json()).toMatchObject({
      multiValueQueryStringParameters: { id: ["1", "2"], q: ["value"], e: [""], f: [""] },
      queryStringParameters: { id: "2", q: "value" },
    });
  });

  it("R11: nothing has one shape: {} for queries, an empty text for the body", async () => {
    const nothing = { queryStringParameters: {}, multiValueQueryStringParameters: {}, body: "" };
    expect((await get("/")).json()).toMatchObject(nothing);
    expect((await get("/", { method: "POST", headers: { "content-length": "0" } })).json()).toMatchObject(nothing);
  });

  it("R17: the answer's type is its own, never the request's", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await get("/five", { method: "POST", body: "--x--", headers })).headers["content-type"]).toMatch(
      /^text\/plain/,
    );
  });

  it("R20: a header with a Latin-1 byte reaches the handler", async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      Buffer.from(
        `GET /x HTTP/1.1\r\nhost: ${new URL(url).host}\r\nuser-agent: Beno\u00eet\r\nconnection: close\r\n\r\n`,
        "latin1",
      ),
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("D40: a call is sent once, whatever comes of it", () => {
  const countOf = async (key: string): Promise<string> =>
    (
      await eventually("the function answers again", 10_000, async () => {
        const answer = await get("/count", { headers: { "x-key": key } });
        return answer.status === 200 && answer;
      })
    ).text;

  it("past its timeout: 504, function's fault, one call", async () => {
    const answer = await get("/slow", { method: "POST", headers: { "x-key": "slow" } });
    expect(answer.status).toBe(504);
    expect(answer.headers["x-sless-fault-source"]).toBe("function");
    expect(answer.headers["x-sless-request-id"]).toBeTruthy();
  });

  it("R36: exiting in the middle of it: 502 with the exit code, one line in the log per call", async () => {
    await countOf("any");
    const answer = await get("/exit", { method: "POST" });
    expect(answer.status).toBe(502);
    expect(answer.json()["detail"]).toContain("3");
    await countOf("any");
  });

  it("its pod killed in the middle of it: 502, and the next call is answered", async () => {
    await countOf("any");
    const running = get("/slow", { method: "POST" });
    await eventually("the pod is known", 2000, async () => (await get("/five")).status === 200);
    const { items } = await platform.kube.list(pods, { namespace: tenant.workloads });
    await platform.kube.delete(
      pods,
      { namespace: tenant.workloads, name: items[0]?.metadata.name ?? "" },
      { gracePeriodSeconds: 0 },
    );
    expect([502, 504]).toContain((await running).status);
    expect(await countOf("any")).toBe("0");
  });
});

describe("idle connections", () => {
  it("R36: kept alive past the runtime's own limit cost no call", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const pauseMs of [0, 4900, 5000, 5100]) {
      // The pause itself is what is tested: an idle socket that one side closes while the other sends.
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      expect((await get("/five", { method: "POST", agent })).status).toBe(200);
    }
    agent.destroy();
  });
});
