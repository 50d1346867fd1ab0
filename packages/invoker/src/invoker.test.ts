import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { HEADERS } from "@sless/contracts";
import { eventually } from "@sless/kube/testing";
import { Client, request } from "undici";
import {
  openFront,
  openRaw,
  sendRaw,
  startScriptedRuntime,
  VERSION_UID,
  type Front,
  type ScriptedRuntime,
} from "./testing/index.js";

let front: Front;
let pod: ScriptedRuntime;
let other: ScriptedRuntime;

beforeEach(async () => {
  [front, pod, other] = await Promise.all([
    openFront(),
    startScriptedRuntime(VERSION_UID, { podUid: "a" }),
    startScriptedRuntime(VERSION_UID, { podUid: "b" }),
  ]);
  front.setEndpoints(pod.endpoint);
});
afterEach(async () => {
  await front.close();
  await Promise.all([pod.kill(), other.kill()]);
});

const post = async (body: string | Buffer | Readable, path = "/") => {
  const answer = await request(front.url + path, { method: "POST", body });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
};
const faultOf = async (answer: ReturnType<typeof post>) => JSON.parse((await answer).bytes.toString()) as object;
/** Only the last result; waits for it, since the client has its answer a moment before. */
const lastResult = async (count = 1) => {
  await eventually("the call has ended", () => front.results.length >= count);
  return front.results.at(-1);
};

/** A pod that refuses a call only after so many bytes of it have come. */
const startLateRefuser = async (afterBytes: number) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    let received = 0;
    socket
      .on("error", () => undefined)
      .on("data", (chunk) => {
        received += chunk.length;
        if (received < afterBytes) return;
        received = -Infinity;
        const head = ["HTTP/1.1 503 Busy", `${HEADERS.versionUid}: ${VERSION_UID}`, `${HEADERS.fault}: busy`];
        socket.write(`${head.join("\r\n")}\r\ncontent-length: 0\r\n\r\n`);
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: { podUid: "late", address: "127.0.0.1", port, ready: true, terminating: false },
    connections: () => connections,
    close: () => void server.close(),
  };
};

describe("a call", () => {
  it("R13, R14: reaches the pod with its path and query raw, and the platform's headers", async () => {
    const { status, bytes } = await post("hi", "/a%2Fb//c/?x=1&x=2");
    expect(status).toBe(200);
    expect(JSON.parse(bytes.toString())).toMatchObject({
      url: "/a%2Fb//c/?x=1&x=2",
      body: "hi",
      headers: {
        [HEADERS.requestId]: "request-1",
        [HEADERS.versionUid]: VERSION_UID,
        [HEADERS.deadlineMs]: "10000",
        [HEADERS.context]: "e30",
      },
    });
    expect(await lastResult()).toMatchObject({ status: 200, attempts: 1, queueMs: 0, runMs: 1, fault: undefined });
  });

  it("R16: answers HEAD with the same length and no body, and the connection stays usable", async () => {
    pod.script = ({ method }, response) =>
      void response.setHeader("content-length", 5).end(method === "HEAD" ? "" : "hello");
    const client = new Client(front.url);
    const head = await client.request({ path: "/", method: "HEAD" });
    expect([head.statusCode, head.headers["content-length"], await head.body.text()]).toEqual([200, "5", ""]);
    const get = await client.request({ path: "/", method: "GET" });
    expect(await get.body.text()).toBe("hello");
    await client.close();
  });

  it("R16: gives HEAD no length when the function gave none", async () => {
    pod.script = (_call, response) => void response.writeHead(200).end();
    const raw = await sendRaw(front.port, "HEAD / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(raw).toMatch(/^HTTP\/1.1 200/);
    expect(raw).not.toMatch(/content-length: 0/i);
  });

  it("D39: passes on 204 without body and length", async () => {
    pod.script = (_call, response) => void response.writeHead(204).end();
    const { status, headers, bytes } = await post("");
    expect([status, headers["content-length"], bytes.length]).toEqual([204, undefined, 0]);
  });

  it("D39: passes gzip and random bytes on untouched", async () => {
    const gzip = gzipSync('{"hello":"world"}');
    pod.script = (_call, response) =>
      void response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end(gzip);
    const { headers, bytes } = await post("");
    expect([headers["content-encoding"], bytes]).toEqual(["gzip", gzip]);
  });

  it("R20: passes a Latin-1 header on", async () => {
    const raw = await sendRaw(
      front.port,
      "GET / HTTP/1.1\r\nhost: a\r\nuser-agent: Beno\xeet\r\nconnection: close\r\n\r\n",
    );
    expect(raw).toMatch(/^HTTP\/1.1 200/);
    expect(pod.calls[0]?.headers["user-agent"]).toBe("Beno\xeet");
  });

  it("passes trailers of a streamed answer on", async () => {
    pod.script = (_call, response) => {
      response.writeHead(200, { trailer: "checksum" });
      response.write("x");
      response.addTrailers({ checksum: "abc", "x-sless-fault": "busy" });
      response.end();
    };
    const raw = await sendRaw(front.port, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(raw).toMatch(/\r\n0\r\nchecksum: abc\r\n\r\n$/);
  });

  it("passes informational answers over", async () => {
    pod.script = (_call, response) => {
      response.writeProcessing();
      response.end("done");
    };
    expect((await post("")).bytes.toString()).toBe("done");
  });

  it("streams an answer as it comes, its head before the first byte of its body", async () => {
    let finish: () => void = () => undefined;
    pod.script = async (_call, response) => {
      response.flushHeaders();
      await new Promise<void>((resolve) => (finish = resolve));
      response.end("late");
    };
    const answer = await request(front.url);
    expect(answer.statusCode).toBe(200);
    finish();
    expect(await answer.body.text()).toBe("late");
  });

  it("holds the pod back while the client does not read", async () => {
    const total = 64 * 1024 * 1024;
    let sent = 0;
    pod.script = (_call, response) => {
      Readable.from(
        (function* () {
          for (; sent < total; sent += 65_536) yield Buffer.alloc(65_536);
        })(),
      ).pipe(response);
    };
    const socket = await openRaw(front.port);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    let before = -1;
    await eventually("the pod has stopped sending", async () => {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return sent > 0 && sent === before;
    });
    expect(sent).toBeLessThan(total / 2);
    socket.destroy();
  });
});

describe("a body", () => {
  it.each(["application/json", "application/octet-stream", "text/plain", "multipart/form-data; boundary=x"])(
    "R03: of exactly the limit reaches the function as %s, one byte more gets 413",
    async (type) => {
      pod.script = ({ body }, response) => void response.end(String(body.length));
      const send = (bytes: number) =>
        request(front.url, { method: "POST", headers: { "content-type": type }, body: Buffer.alloc(bytes) });
      const fits = await send(1024 * 1024);
      expect(await fits.body.text()).toBe("1048576");
      const over = await send(1024 * 1024 + 1);
      expect(over.headers["reason"]).toBe("body-too-large");
      await over.body.dump();
      expect(pod.calls).toHaveLength(1);
    },
  );

  it("R03: without a length is counted as it comes", async () => {
    const chunks = Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(65_536)));
    const { headers } = await post(chunks).catch(() => ({ headers: { reason: "body-too-large" } }));
    expect(headers["reason"]).toBe("body-too-large");
    expect(await lastResult()).toMatchObject({ fault: { reason: "body-too-large", kind: "too-large" } });
    expect(pod.calls).toHaveLength(0);
  });

  it("arrives whole when it is large and comes in chunks", async () => {
    pod.script = ({ body }, response) => void response.end(String(body.length));
    const chunks = Readable.from(Array.from({ length: 15 }, () => Buffer.alloc(65_536)));
    expect((await post(chunks)).bytes.toString()).toBe(String(15 * 65_536));
  });

  it("of a client that hangs up is not handed to the function", async () => {
    const socket = await openRaw(front.port);
    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 500000\r\n\r\n");
    socket.write(Buffer.alloc(200_000));
    await eventually("the call is under way", () => pod.openConnections > 0);
    socket.destroy();
    expect(await lastResult()).toMatchObject({ clientGone: true });
    await eventually("the pod's connection is closed", () => pod.openConnections === 0);
    expect(pod.calls).toHaveLength(0);
    expect(front.invoker.held).toBe(0);
  });

  it("that comes slowly occupies no instance", async () => {
    const socket = await openRaw(front.port);
    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello");
    await eventually("the call is held", () => front.invoker.held === 1);
    expect(pod.connections).toBe(0);
    expect(front.invoker.loads()).toMatchObject([{ inFlight: 1, queued: 0 }]);
    socket.write("world");
    await eventually("the call was made", () => pod.calls.length === 1);
    socket.destroy();
  });
});

describe("a refused call", () => {
  it.each(["busy", "draining", "not-ready", "wrong-version"] as const)(
    "goes to another pod after %s",
    async (fault) => {
      front.setEndpoints(pod.endpoint, other.endpoint);
      pod.refuseNext(fault);
      // Two pods without calls take turns, so one of two calls meets the refusal.
      const answers = [await post("1"), await post("2")];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      await lastResult(2);
      expect(front.results.map(({ attempts }) => attempts).sort()).toEqual([1, 2]);
      expect([...pod.calls, ...other.calls].map(({ body }) => body.toString()).sort()).toEqual(["1", "2"]);
    },
  );

  it.each(["draining", "wrong-version"] as const)("never goes to that pod again after %s", async (fault) => {
    front.setEndpoints(pod.endpoint, other.endpoint);
    pod.refuseNext(fault);
    for (let index = 0; index < 6; index++) await post("x");
    expect([pod.calls.length, other.calls.length]).toEqual([pod.calls.length, 6 - pod.calls.length]);
    expect(pod.calls.length).toBeLessThanOrEqual(1);
  });

  it("R34: is offered until the pod is ready, and its large body arrives whole and once", async () => {
    pod.refuseNext("not-ready", "not-ready", "not-ready");
    pod.script = ({ body }, response) => void response.end(String(body.length));
    expect((await post(Buffer.alloc(524_288))).bytes.toString()).toBe("524288");
    expect(pod.calls).toHaveLength(1);
    expect(await lastResult()).toMatchObject({ attempts: 4 });
  });

  it("R34: waits for a pod that does not listen yet", async () => {
    const late = await startScriptedRuntime(VERSION_UID, { podUid: "late" });
    await late.kill();
    front.setEndpoints(late.endpoint);
    const call = post("x");
    await eventually("it was tried", () => front.invoker.loads()[0]?.queued === 1);
    front.setEndpoints(pod.endpoint);
    expect((await call).status).toBe(200);
  });

  it("ends with 503 when more of its body went out than is kept for sending it again", async () => {
    await front.close();
    front = await openFront({ replayBytes: 100_000 });
    const late = await startLateRefuser(200_000);
    front.setEndpoints(late.endpoint);
    expect(await faultOf(post(Buffer.alloc(900_000)))).toMatchObject({ reason: "busy", kind: "unavailable" });
    expect(late.connections()).toBe(1);
    late.close();
  });

  it("ends with 503 after the longest wait, not before", async () => {
    await front.close();
    front = await openFront({ queueSeconds: 0.2 });
    front.setEndpoints(pod.endpoint);
    pod.refuseNext(...Array.from({ length: 200 }, () => "busy" as const));
    expect(await faultOf(post("x"))).toMatchObject({
      reason: "queue-timeout",
      kind: "unavailable",
      source: "platform",
    });
    expect(pod.calls).toHaveLength(0);
  });

  it("says that no instance could be reached when none listens", async () => {
    await front.close();
    front = await openFront({ queueSeconds: 0.2 });
    const gone = await startScriptedRuntime(VERSION_UID);
    await gone.kill();
    front.setEndpoints(gone.endpoint);
    expect(await faultOf(post("x"))).toMatchObject({ kind: "unavailable", source: "platform" });
  });
});

describe("D40: a call is sent at most once", () => {
  it("when the function overruns its time: 504", async () => {
    front.settings.timeoutSec = 0.1;
    front.setEndpoints(pod.endpoint, other.endpoint);
    const never = (): Promise<void> => new Promise(() => undefined);
    pod.script = never;
    other.script = never;
    expect(await faultOf(post("x"))).toMatchObject({ reason: "timeout", kind: "timeout", source: "function" });
    expect(pod.calls.length + other.calls.length).toBe(1);
  });

  it("R36: when the connection closes unanswered: 502", async () => {
    front.setEndpoints(pod.endpoint, other.endpoint);
    pod.script = (_call, _response, socket) => void socket.destroy();
    other.script = pod.script;
    expect(await faultOf(post("x"))).toMatchObject({ reason: "exited", kind: "function-failed", source: "function" });
    expect(pod.calls.length + other.calls.length).toBe(1);
  });

  it("when the pod is killed during the call: 502", async () => {
    pod.script = () => void pod.kill();
    front.setEndpoints(pod.endpoint);
    expect(await faultOf(post("x"))).toMatchObject({ reason: "exited" });
    pod = await startScriptedRuntime(VERSION_UID);
    front.setEndpoints(pod.endpoint);
    expect((await post("x")).status).toBe(200);
  });

  it("R36: reuses sockets, and opens another when the pod has closed an idle one", async () => {
    await post("1");
    await post("2");
    expect(pod.connections).toBe(1);
    pod.script = (_call, response) => void response.setHeader("connection", "close").end("bye");
    await post("3");
    await eventually("the socket is closed", () => pod.openConnections === 0);
    expect((await post("4")).status).toBe(200);
    expect(pod.calls).toHaveLength(4);
  });
});

describe("an answer that breaks off", () => {
  it("never looks whole: the client's connection is destroyed", async () => {
    pod.script = (_call, response, socket) => {
      response.writeHead(200);
      response.write("half", () => socket.resetAndDestroy());
    };
    const raw = await sendRaw(front.port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    expect(raw).toContain("half");
    expect(raw).not.toContain("\r\n0\r\n");
    expect(await lastResult()).toMatchObject({ answerBegun: true, fault: { reason: "exited" } });
  });

  it("with a length is not filled up", async () => {
    pod.script = (_call, response, socket) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("half", () => socket.destroy());
    };
    await expect(post("x")).rejects.toThrow();
    expect(await lastResult()).toMatchObject({ answerBegun: true, fault: { source: "function" } });
  });

  it("is stopped at the deadline", async () => {
    front.settings.timeoutSec = 0.1;
    pod.script = (_call, response) => void response.write("forever");
    const raw = await sendRaw(front.port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    expect(raw).not.toContain("\r\n0\r\n");
    expect(await lastResult()).toMatchObject({ answerBegun: true, fault: { reason: "timeout" } });
  });

  it("is stopped when the client goes away", async () => {
    let closed = false;
    pod.script = (_call, response) => {
      response.on("close", () => (closed = true));
      response.write("forever");
    };
    const socket = await openRaw(front.port);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(socket, "data");
    socket.destroy();
    await eventually("the pod knows", () => closed);
    expect(await lastResult()).toMatchObject({ clientGone: true });
  });
});

describe("a fault of the runtime", () => {
  it("R22: is told with type and message, without its stack", async () => {
    pod.script = (_call, response) => {
      response.writeHead(502, { [HEADERS.fault]: "handler-error" });
      response.end(
        JSON.stringify({ errorType: "TypeError", errorMessage: "x is undefined", stackTrace: ["at /srv/x.js"] }),
      );
    };
    const fault = await faultOf(post("x"));
    expect(fault).toEqual({
      ...{ source: "function", reason: "handler-error", kind: "function-failed" },
      ...{ errorType: "TypeError", detail: "x is undefined" },
    });
  });

  it.each([
    ["not JSON", "<html>"],
    ["too large", JSON.stringify({ errorType: "E", errorMessage: "x".repeat(100_000) })],
  ])("is told without a message when its body is %s", async (_name, body) => {
    pod.script = (_call, response) => void response.writeHead(502, { [HEADERS.fault]: "exited" }).end(body);
    expect(await faultOf(post("x"))).toMatchObject({
      reason: "exited",
      detail: "The function's runtime reported exited.",
    });
  });

  it.each([
    ["a head that is no HTTP", "HTTP/1.1 abc\r\n\r\n"],
    [
      "two lengths",
      `HTTP/1.1 200 OK\r\n${HEADERS.versionUid}: ${VERSION_UID}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab`,
    ],
  ])("security 17: %s is a fault of the function", async (_name, bytes) => {
    pod.script = (_call, _response, socket) => void socket.end(bytes);
    expect(await faultOf(post("x"))).toMatchObject({ source: "function" });
  });
});

it("tells a function that its answer's headers are too large", async () => {
  pod.script = (_call, response) => void response.writeHead(200, { "x-big": "v".repeat(70_000) }).end();
  expect(await faultOf(post("x"))).toMatchObject({
    reason: "invalid-answer",
    detail: expect.stringContaining("headers are larger than 65536 bytes") as unknown,
  });
});

describe("security 18: a pod's address is used again", () => {
  it("refuses the answer of another version", async () => {
    const stranger = await startScriptedRuntime("another-version");
    front.setEndpoints(stranger.endpoint);
    expect(await faultOf(post("x"))).toMatchObject({ reason: "invalid-answer", source: "platform" });
    await stranger.kill();
  });

  it("closes idle sockets when the pod leaves", async () => {
    await post("x");
    expect(pod.openConnections).toBe(1);
    front.setEndpoints();
    await eventually("the socket is closed", () => pod.openConnections === 0);
  });

  it("R35: lets calls under way end at a pod that leaves, then closes their socket", async () => {
    let finish: () => void = () => undefined;
    pod.script = async (_call, response) => {
      await new Promise<void>((resolve) => (finish = resolve));
      response.end("done");
    };
    const call = post("x");
    await eventually("the call is under way", () => pod.calls.length === 1);
    front.setEndpoints({ ...pod.endpoint, terminating: true });
    front.setEndpoints();
    finish();
    expect((await call).bytes.toString()).toBe("done");
    await eventually("the socket is closed", () => pod.openConnections === 0);
  });
});

describe("R33: concurrency", () => {
  it("never sends a pod more calls at once than it takes", async () => {
    front.settings.concurrency = 2;
    let running = 0;
    let most = 0;
    pod.script = async (_call, response) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      response.end("ok");
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post("x")));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(most).toBeLessThanOrEqual(2);
  });

  it("forgets versions without pods and calls", async () => {
    await post("x");
    expect(front.invoker.loads()).toMatchObject([{ versionUid: VERSION_UID, inFlight: 0 }]);
    front.setEndpoints();
    expect(front.invoker.loads()).toEqual([]);
  });
});
