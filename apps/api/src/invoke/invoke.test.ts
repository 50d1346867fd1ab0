import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { CALLER_AUDIENCE, CallerClaims, makeProblem } from "@sless/contracts";
import { eventually } from "@sless/kube/testing";
import jwt from "jsonwebtoken";
import { request } from "undici";
import { INTERNAL_KEY, startApiFixture, type ApiFixture } from "../testing/api-fixture.js";
import { parseInvokeTarget } from "./target.js";

const INVOKE = "/v1/namespaces/me/functions/hello/invoke";

describe("invoke", () => {
  let api: ApiFixture;
  let token: string;
  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
  });
  beforeEach(() => {
    api.gateway.calls.length = 0;
    api.gateway.answer = (_call, res) => void res.end("ok");
  });
  afterAll(() => api.close());

  const lastCall = () => api.gateway.calls.at(-1);

  it.each([
    { name: "R14: no path", rest: "", sees: "" },
    { name: "R14: a slash", rest: "/", sees: "/" },
    { name: "R14: a path with a query", rest: "/category/123?x=1&x=2", sees: "/category/123?x=1&x=2" },
    { name: "R13: an encoded slash", rest: "/items/bar%2Fsub/1", sees: "/items/bar%2Fsub/1" },
    { name: "R13: repeated slashes", rest: "//a///b", sees: "//a///b" },
    { name: "dots", rest: "/a/%2e%2e/b", sees: "/a/%2e%2e/b" },
  ])("hands on $name as it came", async ({ rest, sees }) => {
    const { namespace } = (await api.call("GET", "/v1/whoami", { token })).body;
    expect(await api.call("GET", INVOKE + rest, { token })).toMatchObject({ status: 200, body: "ok" });
    expect(lastCall()?.url).toBe(`/invoke/${namespace}/hello${sees}`);
  });

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("R15: hands on %s with its body", async (method) => {
    const body = method === "GET" ? undefined : "payload";
    await api.call(method, INVOKE, { token, body: body ?? null });
    expect(lastCall()).toMatchObject({ method, body: body ?? "" });
  });

  it("security 20, 19: the function sees no token, cookie, platform or forwarding header", async () => {
    await api.call("POST", INVOKE, {
      token,
      body: "x",
      headers: {
        cookie: "session=1",
        "x-sless-caller": "forged",
        x_sless_version_uid: "forged",
        "x-forwarded-for": "1.2.3.4",
        forwarded: "for=1.2.3.4",
        "x-kept": "kept",
        "idempotency-key": "the-function's",
      },
    });
    const headers = lastCall()?.headers ?? {};
    for (const name of ["authorization", "cookie", "x_sless_version_uid", "x-forwarded-for", "forwarded"]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(headers).toMatchObject({ "x-kept": "kept", "idempotency-key": "the-function's" });
    expect(headers["x-sless-caller"]).not.toBe("forged");
  });

  it("signs for whom it calls, for half a minute", async () => {
    await api.call("POST", INVOKE, { token });
    const signed = jwt.verify(String(lastCall()?.headers["x-sless-caller"]), INTERNAL_KEY, {
      algorithms: ["HS256"],
      audience: CALLER_AUDIENCE,
    });
    const claims = CallerClaims.parse(signed);
    expect(claims).toMatchObject({ sub: "alice", ns: (await api.call("GET", "/v1/whoami", { token })).body.namespace });
    expect(claims.exp - claims.iat).toBe(30);
  });

  it("security 20: the answer is sandboxed and sets nothing on the API's origin", async () => {
    api.gateway.answer = (_call, res) => {
      res.writeHead(200, {
        "content-type": "text/html",
        "set-cookie": ["a=1", "b=2"],
        "strict-transport-security": "max-age=0",
        "clear-site-data": '"*"',
        "service-worker-allowed": "/",
        "alt-svc": 'h2="evil.test:443"',
        "content-security-policy": "default-src *",
        "x-sless-run-ms": "5",
        "x-sless-version": "7",
        "x-own": ["1", "2"],
        connection: "close, x-drop",
        "x-drop": "1",
      });
      res.end("<script>");
    };
    const { headers } = await api.call("GET", INVOKE, { token });
    expect(headers).toMatchObject({
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "x-sless-version": "7",
    });
    for (const name of [
      "set-cookie",
      "strict-transport-security",
      "clear-site-data",
      "service-worker-allowed",
      "alt-svc",
      "x-drop",
      "x-sless-run-ms",
    ]) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it("D39: bytes, encoding and length agree", async () => {
    const bytes = gzipSync(JSON.stringify({ hello: "world" }));
    api.gateway.answer = (_call, res) =>
      void res.writeHead(200, { "content-encoding": "gzip", "content-length": bytes.length }).end(bytes);
    const answer = await request(api.replica.url + INVOKE, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip", "content-length": String(bytes.length) });
    expect(Buffer.from(await answer.body.arrayBuffer())).toEqual(bytes);
    api.gateway.answer = (_call, res) => void res.writeHead(204).end();
    expect(await api.call("GET", INVOKE, { token })).toMatchObject({ status: 204, body: undefined });
  });

  it("R16: answers HEAD without a body, and the connection goes on", async () => {
    api.gateway.answer = (_call, res) => void res.writeHead(200, { "content-length": 5 }).end("12345");
    expect(await api.call("HEAD", INVOKE, { token })).toMatchObject({
      status: 200,
      headers: { "content-length": "5" },
    });
    expect(await api.call("GET", INVOKE, { token })).toMatchObject({ body: "12345" });
  });

  it("R1: a problem of the gateway keeps its request id in body and header", async () => {
    const problem = makeProblem("function-failed", "it threw", "id-of-the-gateway", { reason: "handler-error" });
    api.gateway.answer = (_call, res) =>
      void res
        .writeHead(502, {
          "content-type": "application/problem+json",
          "x-sless-request-id": "id-of-the-gateway",
          "x-sless-fault-source": "function",
        })
        .end(JSON.stringify(problem));
    const { headers, body } = await api.call("POST", INVOKE, { token });
    expect(headers).toMatchObject({ "x-request-id": body.request_id, "x-sless-fault-source": "function" });
  });

  it("streams both ways before the end is known", async () => {
    let finish = (): void => undefined;
    api.gateway.answer = (_call, res) => {
      res.write("first");
      finish = () => void res.end("last");
    };
    const { body } = await request(api.replica.url + INVOKE, { headers: { authorization: `Bearer ${token}` } });
    const chunks = body[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("first");
    finish();
    expect(String((await chunks.next()).value)).toBe("last");
  });

  it("breaks the answer off when the gateway's breaks", async () => {
    api.gateway.answer = (_call, res) => {
      res.writeHead(200, { "content-length": 100 });
      res.write("half", () => res.destroy());
    };
    const { body } = await request(api.replica.url + INVOKE, { headers: { authorization: `Bearer ${token}` } });
    await expect(body.text()).rejects.toThrow();
  });

  it("D40: calls once, also when the gateway closes without an answer", async () => {
    api.gateway.answer = (_call, res) => void res.destroy();
    expect(await api.call("POST", INVOKE, { token, body: "once" })).toMatchObject({ status: 503 });
    expect(api.gateway.calls).toHaveLength(1);
  });

  it("ends the call when the client goes", async () => {
    let closed = false;
    api.gateway.answer = (_call, res) => {
      res.write("begun");
      res.once("close", () => {
        closed = true;
      });
    };
    const { body } = await request(api.replica.url + INVOKE, { headers: { authorization: `Bearer ${token}` } });
    body.on("error", () => undefined);
    body.destroy();
    await eventually("the gateway sees it", () => closed);
  });

  it("security 25: a stream ends with its token", async () => {
    api.gateway.answer = (_call, res) => void res.write("begun");
    const short = api.issuer.token("alice", { exp: Date.now() / 1000 + 1 });
    const { body } = await request(api.replica.url + INVOKE, { headers: { authorization: `Bearer ${short}` } });
    await expect(body.text()).rejects.toThrow();
  });

  it("R3: refuses a body above the limit before it is read", async () => {
    const answer = await api.call("POST", INVOKE, { token, body: Buffer.alloc(64 * 1024 + 1) });
    expect(answer).toMatchObject({ status: 413 });
    expect(api.gateway.calls).toHaveLength(0);
  });

  it("answers 503 while the gateway is away, and 401, 403, 404 without asking it", async () => {
    const other = `/v1/namespaces/sless-${"0".repeat(16)}/functions/hello/invoke`;
    expect(await api.call("POST", INVOKE)).toMatchObject({ status: 401 });
    expect(await api.call("POST", other, { token })).toMatchObject({ status: 403 });
    expect(await api.call("POST", "/v1/namespaces/me/functions/No/invoke", { token })).toMatchObject({ status: 404 });
    expect(api.gateway.calls).toHaveLength(0);
    await api.gateway.close();
    await eventually("connections to the gateway are known to be closed", async () => {
      const { status, body } = await api.call("POST", INVOKE, { token });
      return status === 503 && /not called/.test(body.detail as string);
    });
  });
});

describe("what an invoke names", () => {
  it.each([
    { url: "/v1/namespaces/me/functions/f/invoke", rest: "" },
    { url: "/v1/namespaces/me/functions/f/invoke?a=/invoke/b", rest: "?a=/invoke/b" },
    { url: "/v1/namespaces/me/functions/f/invoke/invoke/x", rest: "/invoke/x" },
    { url: "/v1/namespaces/me/functions/f/invoked", rest: undefined },
    { url: "/v1/namespaces/me/functions/f/versions?x=/invoke", rest: undefined },
  ])("$url", ({ url, rest }) => {
    expect(parseInvokeTarget(url)?.rest).toBe(rest);
  });
});
