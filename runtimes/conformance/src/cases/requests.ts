import assert from "node:assert/strict";
import { checkFault, exchange, jsonOf } from "./exchange.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";
import type { Pod } from "../pod.js";

interface EchoedEvent {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly multiValueHeaders: Record<string, string[]>;
  readonly queryStringParameters: Record<string, string>;
  readonly multiValueQueryStringParameters: Record<string, string[]>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: Record<string, unknown>;
}

const echoOf = async (pod: Pod, target: string, options?: Parameters<Pod["call"]>[1]): Promise<EchoedEvent> => {
  const reply = await pod.call(target, options);
  assert.equal(reply.status, 200, reply.body.toString());
  return jsonOf(reply) as EchoedEvent;
};

const MEBIBYTE = 1024 * 1024;
const BODY_TYPES = ["application/json", "application/octet-stream", "text/plain", "application/x-www-form-urlencoded"];

const bodies: ConformanceCase[] = [
  {
    id: "R03",
    title: "a body of 1 MiB arrives whole, whatever its type",
    run: async (pod) => {
      for (const type of BODY_TYPES) {
        const body = Buffer.alloc(MEBIBYTE, "a");
        const reply = await pod.call("/received-bytes", { method: "POST", body, headers: { "content-type": type } });
        assert.equal(reply.body.toString(), String(MEBIBYTE), type);
      }
    },
  },
  {
    id: "R03",
    title: "a declared body above the limit is refused before it is sent",
    run: async (pod) => {
      const connection = await pod.connect();
      const headers = { "content-length": String(2 * MEBIBYTE + 1) };
      pod.send(connection, "/received-bytes", { method: "POST", headers });
      const reply = await connection.reply("POST");
      assert.equal(reply.status, 413);
      checkFault(reply, "body-too-large", /2097152/);
      connection.close();
    },
  },
  {
    id: "R03",
    title: "a chunked body above the limit gets its 413, however much is sent",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/received-bytes", { method: "POST", headers: { "transfer-encoding": "chunked" } });
      const chunk = Buffer.alloc(MEBIBYTE, "a");
      for (let i = 0; i < 4; i++) {
        connection.write(Buffer.concat([Buffer.from(`${MEBIBYTE.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]));
      }
      const reply = await connection.reply("POST");
      assert.equal(reply.status, 413);
      checkFault(reply, "body-too-large");
      connection.close();
    },
  },
  {
    id: "R03",
    title: "a chunked body within the limit arrives whole",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/received-bytes", { method: "POST", headers: { "transfer-encoding": "chunked" } });
      connection.write("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
      assert.equal((await connection.reply("POST")).body.toString(), "11");
      connection.close();
    },
  },
  {
    id: "event",
    title: "a body that is not UTF-8 comes as base64",
    run: async (pod) => {
      const bytes = Buffer.from([0xff, 0xfe, 0x00]);
      const event = await echoOf(pod, "/echo", { method: "POST", body: bytes });
      assert.deepEqual([event.isBase64Encoded, event.body], [true, bytes.toString("base64")]);
      const text = await echoOf(pod, "/echo", { method: "POST", body: "Schlüter 🎉" });
      assert.deepEqual([text.isBase64Encoded, text.body], [false, "Schlüter 🎉"]);
    },
  },
  {
    id: "100-continue",
    title: "a caller that waits for 100 gets it, then its answer",
    run: async (pod) => {
      const connection = await pod.connect();
      const headers = { expect: "100-continue", "content-length": "5" };
      pod.send(connection, "/received-bytes", { method: "POST", headers });
      assert.equal((await connection.reply("POST")).status, 100);
      connection.write("hello");
      assert.equal((await connection.reply("POST")).body.toString(), "5");
      connection.close();
    },
  },
];

const connections: ConformanceCase[] = [
  {
    id: "connections",
    title: "requests sent without waiting are answered in their order, on one connection",
    run: async (pod) => {
      const connection = await pod.connect();
      const requestIds = ["first", "second", "third"];
      for (const requestId of requestIds) pod.send(connection, "/context", { requestId });
      for (const requestId of requestIds) {
        const reply = await connection.reply();
        // A second one may find the first still in progress: then it is refused, in its place.
        if (reply.status === 200) assert.equal((jsonOf(reply) as { requestId: string }).requestId, requestId);
        else checkFault(reply, "busy");
      }
      assert.equal(connection.received.length, 0);
      connection.close();
    },
  },
  {
    id: "connections",
    title: "an HTTP/1.0 request is answered, and its connection ended",
    run: async (pod) => {
      const connection = await pod.connect();
      connection.write("GET /hello HTTP/1.0\r\nx-sless-request-id: old\r\n\r\n");
      assert.equal((await connection.reply()).body.toString(), "hello");
      await connection.ended();
    },
  },
];

const paths: ConformanceCase[] = [
  ["/echo", "/echo"],
  ["/echo/", "/echo/"],
  ["/echo/category/123?x=1", "/echo/category/123"],
  ["/echo/items/bar%2Fsub/1", "/echo/items/bar%2Fsub/1"],
  ["//echo//a///b", "//echo//a///b"],
  ["/echo/%E2%82%AC/../x", "/echo/%E2%82%AC/../x"],
  ["/?only=query", "/"],
].map(([target = "", path]) => ({
  id: "R13 R14",
  title: `${target} reaches the handler with its path untouched`,
  run: async (pod: Pod) => assert.equal((await echoOf(pod, target)).path, path),
}));

const controlPaths: ConformanceCase[] = [
  "/livez",
  "/readyz",
  "/state",
  "/drain",
  "//livez",
  "/%6civez",
  "/echo/../drain",
].map((path) => ({
  id: "security 13",
  title: `${path} on the call port is the handler's`,
  run: async (pod: Pod) => {
    for (const method of ["GET", "POST"]) {
      assert.deepEqual(await echoOf(pod, path, { method }).then((event) => [event.httpMethod, event.path]), [
        method,
        path,
      ]);
    }
  },
}));

const methods: ConformanceCase[] = ["OPTIONS", "PUT", "PATCH", "DELETE"].map((method) =>
  exchange({
    id: "R15",
    title: `${method} reaches the handler, and its 204 has no body`,
    target: "/method",
    send: { method, headers: { origin: "https://example.com" } },
    want: {
      status: 204,
      headers: { "x-m": method, "access-control-allow-origin": "*", "transfer-encoding": null },
      body: "",
    },
  }),
);

const query: ConformanceCase[] = [
  {
    id: "R10",
    title: "repeated query keys are all there; the single map has the last",
    run: async (pod) => {
      const event = await echoOf(pod, "/echo?id=1&id=2&q=value&e=&f&enc=a%20b%2Bc+d&bad=%zz");
      assert.deepEqual(event.multiValueQueryStringParameters, {
        id: ["1", "2"],
        q: ["value"],
        e: [""],
        f: [""],
        enc: ["a b+c d"],
        bad: ["%zz"],
      });
      assert.deepEqual(event.queryStringParameters, { id: "2", q: "value", e: "", f: "", enc: "a b+c d", bad: "%zz" });
    },
  },
  {
    id: "R11",
    title: "no query and no body have one shape",
    run: async (pod) => {
      const events = [
        await echoOf(pod, "/echo"),
        await echoOf(pod, "/echo?"),
        await echoOf(pod, "/echo", { method: "POST", headers: { "content-length": "0" } }),
      ];
      for (const event of events) {
        assert.deepEqual(event.queryStringParameters, {});
        assert.deepEqual(event.multiValueQueryStringParameters, {});
        assert.deepEqual([event.body, event.isBase64Encoded], ["", false]);
      }
    },
  },
];

const headers: ConformanceCase[] = [
  {
    id: "R20",
    title: "a header byte beyond ASCII is Latin-1 text",
    run: async (pod) => {
      const reply = await pod.call("/header-length", { headers: { "user-agent": "Beno\u00eet" } });
      assert.deepEqual([reply.status, reply.body.toString()], [200, "6"]);
    },
  },
  {
    id: "security 19",
    title: "no x-sless- header reaches the handler",
    run: async (pod) => {
      const event = await echoOf(pod, "/echo", { headers: { "X-Sless-Anything": "1", "x-other": "2" } });
      const names = [...Object.keys(event.headers), ...Object.keys(event.multiValueHeaders)];
      assert.deepEqual(
        names.filter((name) => name.startsWith("x-sless-")),
        [],
      );
      assert.equal(event.headers["x-other"], "2");
    },
  },
  {
    id: "event",
    title: "repeated headers are joined, and kept apart in the multi map; names are lower case",
    run: async (pod) => {
      const event = await echoOf(pod, "/echo", { headers: { "X-A": "1", "x-a": "2" } });
      assert.equal(event.headers["x-a"], "1, 2");
      assert.deepEqual(event.multiValueHeaders["x-a"], ["1", "2"]);
    },
  },
  {
    id: "security 22",
    title: "a header named __proto__ is a header",
    run: async (pod) => {
      const event = await echoOf(pod, "/echo", { headers: { __proto__x: "1", ["__proto__"]: "2" } });
      assert.equal(event.headers["__proto__x"], "1");
      assert.deepEqual(
        Object.keys(event.headers).filter((name) => name === "__proto__"),
        ["__proto__"],
      );
    },
  },
  {
    id: "malformed",
    title: "a request that is not HTTP gets 400 and the end of its connection",
    run: async (pod) => {
      const connection = await pod.connect();
      connection.write("NOT HTTP AT ALL\r\n\r\n");
      const reply = await connection.reply();
      assert.equal(reply.status, 400);
      checkFault(reply, "bad-request");
      await connection.ended();
    },
  },
  {
    id: "security 19",
    title: "a request framed in two ways gets 400",
    run: async (pod) => {
      const connection = await pod.connect();
      const both = { "content-length": "3", "transfer-encoding": "chunked" };
      pod.send(connection, "/echo", { method: "POST", headers: both });
      connection.write("0\r\n\r\n");
      const reply = await connection.reply("POST");
      assert.equal(reply.status, 400);
      connection.close();
    },
  },
];

const context: ConformanceCase[] = [
  {
    id: "context",
    title: "requestContext holds the platform's id, the client, and what the gateway adds",
    run: async (pod) => {
      const added = { sourceIp: "192.0.2.7", trigger: { type: "http", name: "web" }, attempt: 1 };
      const encoded = Buffer.from(JSON.stringify(added)).toString("base64url");
      const event = await echoOf(pod, "/echo", {
        requestId: "req-1",
        headers: { "x-sless-context": encoded, "user-agent": "test" },
      });
      const { requestContext } = event;
      assert.equal(requestContext.requestId, "req-1");
      assert.equal(requestContext.httpMethod, "GET");
      assert.deepEqual(requestContext.identity, { sourceIp: "192.0.2.7", userAgent: "test" });
      assert.deepEqual(requestContext.trigger, added.trigger);
      assert.match(String(requestContext.requestTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(Math.abs(Number(requestContext.timestamp) - Date.now()) < 10_000);
    },
  },
  exchange({
    id: "context",
    title: "the context names the call and the function",
    target: "/context",
    send: { requestId: "req-2" },
    want: {
      status: 200,
      json: { requestId: "req-2", awsRequestId: "req-2", name: "hello", version: "7", memory: 128 },
    },
  }),
  exchange({
    id: "R33",
    title: "the handler sees its own environment and four names of the platform",
    target: "/env",
    want: {
      status: 200,
      json: {
        K: "value",
        SLESS_FUNCTION: "hello",
        SLESS_VERSION: "7",
        SLESS_MEMORY_MB: "128",
        SLESS_TIMEOUT_SEC: "10",
      },
    },
  }),
  {
    id: "R31",
    title: "the remaining time starts at the timeout for each call, and runs",
    run: async (pod) => {
      for (let call = 0; call < 2; call++) {
        const { before, after } = jsonOf(await pod.call("/remaining")) as { before: number; after: number };
        assert.ok(before > 9_500 && before <= 10_000, `before: ${String(before)}`);
        assert.ok(before - after >= 290 && before - after < 1_000, `after: ${String(after)}`);
      }
    },
  },
  {
    id: "security 19",
    title: "the gateway's deadline counts where it is nearer than the timeout",
    run: async (pod) => {
      const { before } = jsonOf(await pod.call("/remaining", { deadlineMs: 2_000 })) as { before: number };
      assert.ok(before > 1_500 && before <= 2_000, `before: ${String(before)}`);
    },
  },
  {
    id: "security 18",
    title: "a call for another version is refused before its body is read",
    run: async (pod) => {
      const connection = await pod.connect();
      const headers = { "content-length": "1000" };
      pod.send(connection, "/echo", { method: "POST", versionUid: "another", headers });
      const reply = await connection.reply("POST");
      assert.equal(reply.status, 421);
      checkFault(reply, "wrong-version");
      assert.deepEqual(reply.headers["x-sless-version-uid"], [pod.versionUid]);
      connection.close();
    },
  },
];

export const REQUEST_GROUPS: readonly CaseGroup[] = [
  {
    title: "requests",
    pod: { entrypoint: "answers.handler", env: { K: "value" }, maxBodyBytes: 2 * MEBIBYTE },
    cases: [...bodies, ...connections, ...paths, ...controlPaths, ...methods, ...query, ...headers, ...context],
  },
];
