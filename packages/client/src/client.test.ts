import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { makeProblem } from "@sless/contracts";
import { createClient, type SlessClient } from "./client.js";
import { ApiError, EndpointError, WaitTimeout } from "./errors.js";

const RUNTIMES = JSON.stringify({
  items: [{ name: "nodejs20", family: "nodejs", deprecated: false, available: true }],
});

const sendProblem = (
  res: ServerResponse,
  kind: Parameters<typeof makeProblem>[0],
  headers: Record<string, string> = {},
): void => {
  const problem = makeProblem(kind, "because", "request-1");
  res
    .writeHead(problem.status, { "content-type": "application/problem+json", ...headers })
    .end(JSON.stringify(problem));
};

describe("the client", () => {
  let server: Server;
  let client: SlessClient;
  let seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  let answer: (res: ServerResponse, attempt: number) => void;
  let endpoint: string;

  beforeEach(async () => {
    seen = [];
    server = createServer((req, res) => {
      let body = "";
      req.on("data", (chunk: Buffer) => (body += chunk.toString()));
      req.on("end", () => {
        seen.push({ method: req.method ?? "", url: req.url ?? "", headers: req.headers, body });
        answer(res, seen.length);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createClient({ endpoint, token: () => "secret" });
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    "http://api.example.com",
    "ftp://127.0.0.1",
    "api.example.com",
    "https://user:pw@api.example.com",
    "http://127.0.0.1.evil.test",
  ])("security 27: refuses to send a token to %s", (bad) =>
    expect(() => createClient({ endpoint: bad, token: () => "secret" })).toThrow(EndpointError),
  );

  it("security 27: follows no redirect", async () => {
    answer = (res) => void res.writeHead(307, { location: "http://127.0.0.1:1/evil" }).end();
    await expect(client.runtimes()).rejects.toThrow(/follows no redirect/);
    expect(seen).toHaveLength(1);
  });

  it("turns problems into errors with status, kind of problem and request id", async () => {
    answer = (res) => sendProblem(res, "precondition-failed", { etag: '"7"' });
    const error: unknown = await client.functions
      .patch("hello", {}, { ifMatch: '"5"' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 412,
      requestId: "request-1",
      currentEtag: '"7"',
      problem: { type: "/errors#precondition-failed" },
    });
    expect(seen[0]?.headers["if-match"]).toBe('"5"');
  });

  it("repeats reads as long as the API asks for, and no longer", async () => {
    answer = (res, attempt) =>
      attempt < 3 ? sendProblem(res, "unavailable", { "retry-after": "0" }) : void res.end(RUNTIMES);
    expect(await client.runtimes()).toHaveLength(1);
    answer = (res) => sendProblem(res, "too-many-requests", { "retry-after": "0" });
    await expect(client.runtimes()).rejects.toMatchObject({ status: 429 });
    expect(seen).toHaveLength(3 + 4);
  });

  it("repeats writes only under an Idempotency-Key, and calls never", async () => {
    answer = (res) => sendProblem(res, "unavailable", { "retry-after": "0" });
    await expect(client.functions.patch("hello", {})).rejects.toThrow(ApiError);
    expect(seen).toHaveLength(1);
    await expect(client.functions.patch("hello", {}, { idempotencyKey: "k" })).rejects.toThrow(ApiError);
    expect(seen).toHaveLength(1 + 4);
    expect((await client.functions.invoke("hello")).statusCode).toBe(503);
    expect(seen).toHaveLength(1 + 4 + 1);
  });

  it("does not repeat what was refused", async () => {
    answer = (res) => sendProblem(res, "forbidden");
    await expect(client.runtimes()).rejects.toMatchObject({ status: 403 });
    expect(seen).toHaveLength(1);
  });

  it("bounds the answer", async () => {
    answer = (res) => {
      res.on("error", () => undefined);
      for (let sent = 0; sent < 40; sent++) res.write(Buffer.alloc(1 << 20, 0x20));
      res.end();
    };
    await expect(client.runtimes()).rejects.toThrow(/larger than/);
  });

  it("says so when it speaks to something that is no sless", async () => {
    answer = (res) => void res.end("<html>");
    await expect(client.runtimes()).rejects.toThrow(/Is it a sless API/);
    answer = (res) => void res.writeHead(500).end("<html>");
    await expect(client.runtimes()).rejects.toMatchObject({ status: 500 });
  });

  it("calls by raw paths", async () => {
    answer = (res) => void res.end("ok");
    const { body } = await client.functions.invoke("hello", { method: "GET", path: "/a/../b%2Fc//d?x=1" });
    expect(await body.text()).toBe("ok");
    expect(seen[0]?.url).toBe("/v1/namespaces/me/functions/hello/invoke/a/../b%2Fc//d?x=1");
  });

  it("reads log lines and skips signs of life", async () => {
    const line = { time: "2026-01-01T00:00:00Z", pod: "p", stream: "stdout", message: "hi" };
    answer = (res) => void res.end(`\n${JSON.stringify(line)}\n\n${JSON.stringify({ ...line, message: "ho" })}\n`);
    const messages: string[] = [];
    for await (const { message } of client.functions.logs("hello", { tail: 5, since: "1h" })) messages.push(message);
    expect(messages).toEqual(["hi", "ho"]);
    expect(seen[0]?.url).toBe("/v1/namespaces/me/functions/hello/logs?tail=5&since=1h");
  });

  it("tells how far an upload is", async () => {
    answer = (res) =>
      void res.end(
        JSON.stringify({
          code_digest: "a".repeat(64),
          size_bytes: 6,
          files: 1,
          staged: true,
          unchanged: false,
          warnings: [],
        }),
      );
    const progress: number[] = [];
    const body = Readable.from([Buffer.from("abc"), Buffer.from("def")]);
    await client.functions.upload("hello", { body, size: 6, stage: true, onProgress: (sent) => progress.push(sent) });
    expect(progress).toEqual([3, 6]);
    expect(seen[0]).toMatchObject({ body: "abcdef", url: "/v1/namespaces/me/functions/hello/upload?stage=true" });
  });

  it("waits in as many polls as it takes, and tells how it ended", async () => {
    answer = (res) => void res.writeHead(204, { "x-sless-wait": "done" }).end();
    expect(await client.triggers.wait("web", { until: "gone" })).toEqual({ outcome: "done", value: undefined });
    const trigger = {
      name: "web",
      namespace: "n",
      uid: "0123-4567",
      generation: 1,
      created_at: "2026-01-01T00:00:00Z",
      function: "hello",
      type: "http",
      enabled: true,
      http: { path: "/", methods: [] },
      status: { phase: "Pending", message: "", conditions: [] },
    };
    answer = (res) => void res.writeHead(200, { "x-sless-wait": "timeout" }).end(JSON.stringify(trigger));
    await expect(client.triggers.gone("web", { timeout: 0.01 })).rejects.toThrow(WaitTimeout);
  });
});
