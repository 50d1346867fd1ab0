import { mkdtempSync, rmSync, statSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createApiServer, type ApiServer } from "./create-api-server.js";
import type { PodLogRequest } from "./http/pod-log.js";
import { openClusterStore } from "./open-cluster-store.js";
import { RESOURCES } from "./resource-table.js";
import type { ServedStore } from "./served-store.js";
import { makeSelfSigned } from "./tls/self-signed.js";

const TOKEN = "the-secret-of-the-installation";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Reply {
  code: number;
  text: string;
  body: { message?: string; reason?: string; items?: unknown[] };
}

describe("createApiServer", () => {
  const certificate = makeSelfSigned("test", Date.now());
  let store: ServedStore;
  let server: ApiServer;
  let url: URL;
  let asked: PodLogRequest[];

  const send = (
    path: string,
    {
      method = "GET",
      headers = {},
      body = "",
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
    tls = false,
  ): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const options = {
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: { Authorization: `Bearer ${TOKEN}`, "Content-Length": Buffer.byteLength(body), ...headers },
      };
      const request = tls ? httpsRequest({ ...options, ca: certificate.cert }, read) : httpRequest(options, read);
      function read(response: IncomingMessage): void {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          let parsed = {};
          try {
            parsed = JSON.parse(text) as object;
          } catch {
            // Not every answer is JSON.
          }
          resolve({ code: response.statusCode ?? 0, text, body: parsed });
        });
      }
      request.on("error", reject);
      request.end(body);
    });

  beforeEach(async () => {
    asked = [];
    store = openClusterStore();
    server = createApiServer({
      store,
      token: TOKEN,
      certificate,
      podLogs: async function* (request) {
        asked.push(request);
        yield "first\n";
        if (!request.follow) return;
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      },
    });
    url = new URL(await server.listen());
  });
  afterEach(async () => {
    await server.close();
    await store.close();
  });

  it("answers health to anybody and nothing else", async () => {
    expect((await send("/readyz", { headers: { Authorization: "" } })).code).toBe(200);
    expect((await send("/api", { headers: { Authorization: "" } })).code).toBe(401);
  });

  it.each(["Bearer wrong", `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`, "Bearer "])(
    "security 31: refuses the credentials %j",
    async (authorization) => {
      expect(await send("/api/v1/secrets", { headers: { Authorization: authorization } })).toMatchObject({
        code: 401,
        body: { reason: "Unauthorized" },
      });
    },
  );

  it("security 31: refuses a web page and a foreign host name, whatever they know", async () => {
    expect((await send("/api/v1/secrets", { headers: { Origin: "http://localhost:3000" } })).code).toBe(403);
    expect((await send("/api/v1/secrets", { headers: { Host: "rebound.example.com" } })).code).toBe(403);
  });

  it("refuses to start with an empty secret", () => {
    expect(() => createApiServer({ store, token: "" })).toThrow("needs a secret");
  });

  it("refuses to act as somebody else, and says why", async () => {
    const reply = await send("/api/v1/pods", { headers: { "Impersonate-User": "jane" } });
    expect(reply.code).toBe(403);
    expect(reply.body.message).toContain("knows one user");
  });

  it("speaks HTTPS on the same port, since kubectl sends its token over nothing else", async () => {
    expect((await send("/api/v1/namespaces", {}, true)).body.items).toHaveLength(2);
    expect((await send("/api/v1/namespaces")).body.items).toHaveLength(2);
  });

  it("writes a kubeconfig that only its owner can read", () => {
    const directory = mkdtempSync(join(tmpdir(), "kubeconfig-"));
    const path = join(directory, "config");
    server.writeKubeconfig(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    rmSync(directory, { recursive: true });
  });

  const post = (body: string) =>
    send(CONFIG_MAPS, { method: "POST", body, headers: { "Content-Type": "application/json" } });

  it("security 22: refuses a body that is too deep", async () => {
    const reply = await post(`{"apiVersion":"v1","kind":"ConfigMap","data":${"[".repeat(5000)}${"]".repeat(5000)}}`);
    expect(reply).toMatchObject({ code: 400, body: { message: expect.stringContaining("nests deeper") } });
  });

  it("security 22: refuses a body that is too large", async () => {
    const reply = await post(`{"data":"${"x".repeat(3 * 1024 * 1024)}"}`);
    expect(reply).toMatchObject({ code: 413, body: { reason: "RequestEntityTooLarge" } });
  });

  it("takes a body with very many items", async () => {
    expect((await post(`{"data":[${"0,".repeat(500_000)}0]}`)).code).toBe(400);
  });

  it("security 22: refuses a body that reaches for a prototype", async () => {
    expect((await post('{"metadata":{"name":"a","labels":{"__proto__":{"x":"y"}}}}')).code).toBe(400);
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it.each([
    ["/apis/apps/v1/namespaces/default/statefulsets", "statefulsets"],
    ["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "selfsubjectaccessreviews"],
    ["/openapi/v2", "/openapi/v2"],
  ])("says that it does not serve %s", async (path, named) => {
    const reply = await send(path);
    expect(reply.code).toBe(404);
    expect(reply.body.message).toContain(named);
  });

  describe("pods/log", () => {
    const LOG = "/api/v1/namespaces/default/pods/p/log";
    beforeEach(() => {
      store.create(RESOURCES.pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", namespace: "default" },
        spec: { containers: [{ name: "c", image: "i" }] },
      });
    });

    it("hands over what was asked", async () => {
      const reply = await send(`${LOG}?tailLines=5&timestamps=true&previous=true&limitBytes=100&sinceSeconds=60`);
      expect(reply).toMatchObject({ code: 200, text: "first\n" });
      expect(asked[0]).toMatchObject({
        container: "c",
        follow: false,
        tailLines: 5,
        timestamps: true,
        previous: true,
        limitBytes: 100,
      });
      expect(Date.parse(asked[0]?.sinceTime ?? "")).toBeLessThanOrEqual(Date.now() - 60_000);
    });

    it("ends a follow when its client goes", async () => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      await new Promise<void>((resolve) => {
        const request = httpRequest(new URL(`${LOG}?follow=true`, url), { headers }, (response) => {
          response.once("data", () => {
            request.destroy();
            resolve();
          });
          response.on("error", () => undefined);
        });
        request.on("error", () => undefined);
        request.end();
      });
      const { signal } = asked[0] ?? {};
      if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      expect(signal?.aborted).toBe(true);
    });

    it.each(["tailLines=-1", "limitBytes=x", "sinceTime=yesterday", "container=none"])("refuses %s", async (query) => {
      expect((await send(`${LOG}?${query}`)).code).toBe(400);
    });
  });
});
