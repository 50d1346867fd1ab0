import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { exchange, jsonOf } from "./exchange.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";

const TEXT_TYPE = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
const TEXT = "Schlüter 日本 🎉";

const bodies: ConformanceCase[] = [
  exchange({
    id: "R02",
    title: "a base64 body is sent as its bytes",
    target: "/png",
    want: {
      status: 200,
      headers: { "content-length": "10", "content-type": "image/png" },
      body: Buffer.from("89504e470d0a1a0aff00", "hex"),
    },
  }),
  {
    id: "R06",
    title: "a compressed body passes once, whatever its type",
    run: async (pod) => {
      const reply = await pod.call("/gzip");
      assert.deepEqual(reply.headers["content-encoding"], ["gzip"]);
      assert.deepEqual(reply.headers["content-type"], [JSON_TYPE]);
      assert.equal(gunzipSync(reply.body).toString(), '{"hello":"world"}');
    },
  },
  exchange({
    id: "answers",
    title: "bytes in an envelope are sent as they are",
    target: "/bytes-body",
    want: { status: 200, headers: { "content-type": "application/octet-stream" }, body: Buffer.from([0, 1, 0xff]) },
  }),
  exchange({
    id: "R07",
    title: "text is sent as UTF-8, its length counted in bytes",
    target: "/text-body",
    want: { status: 200, headers: { "content-length": String(Buffer.byteLength(TEXT)) }, body: TEXT },
  }),
  exchange({
    id: "R07",
    title: "JSON holds text as it is, not as escapes",
    target: "/text-json",
    want: { status: 200, body: '{"t":"Schlüter 🎉"}' },
  }),
  exchange({
    id: "R16",
    title: "a 204 with a body is sent without it",
    target: "/no-content-with-body",
    want: { status: 204, headers: { "content-length": null, "transfer-encoding": null }, body: "" },
  }),
  {
    id: "R16",
    title: "HEAD has GET's head, no body, and leaves the connection clean",
    run: async (pod) => {
      const connection = await pod.connect();
      const head = await pod.call("/hello", { connection, method: "HEAD" });
      assert.deepEqual([head.status, head.headers["content-length"]], [200, ["5"]]);
      assert.equal(connection.received.length, 0);
      const get = await pod.call("/hello", { connection });
      assert.deepEqual([get.status, get.body.toString()], [200, "hello"]);
      assert.equal(connection.received.length, 0);
      connection.close();
    },
  },
];

const results: ConformanceCase[] = (
  [
    ["string", "hello", TEXT_TYPE],
    ["null", "null", JSON_TYPE],
    ["nothing", "null", JSON_TYPE],
    ["number", "42", JSON_TYPE],
    ["array", '[{"k":1}]', JSON_TYPE],
  ] as const
).map(([name, body, type]) =>
  exchange({
    id: "R22",
    title: `a result of ${name} is an answer`,
    target: `/${name}`,
    want: { status: 200, headers: { "content-type": type }, body },
  }),
);

const contentTypes: ConformanceCase[] = (
  [
    ["type-lower", JSON_TYPE],
    ["type-upper", JSON_TYPE],
    ["type-none", TEXT_TYPE],
  ] as const
).map(([name, type]) =>
  exchange({
    id: "R17",
    title: `${name}: exactly one content type, never the request's`,
    target: `/${name}`,
    send: { method: "POST", body: "--x--", headers: { "content-type": "multipart/form-data; boundary=x" } },
    want: { status: 200, headers: { "content-type": type } },
  }),
);

const headers: ConformanceCase[] = [
  exchange({
    id: "R19",
    title: "header values that are no strings become text, null is left out",
    target: "/header-values",
    want: { status: 200, headers: { "x-b": "true", "access-control-max-age": "0", "x-n": null, "x-text": "ok" } },
  }),
  exchange({
    id: "R19",
    title: "a line break in a header is refused",
    target: "/header-injection",
    want: { status: 502, fault: "bad-result", says: /X-Bad/, headers: { "x-inj": null, "x-bad": null } },
  }),
  exchange({
    id: "R19",
    title: "a header name with a space is refused",
    target: "/header-name",
    want: { status: 502, fault: "bad-result", says: /X Bad/ },
  }),
  exchange({
    id: "R19",
    title: "an object as a header's value is refused",
    target: "/header-object",
    want: { status: 502, fault: "bad-result", says: /X-Bad/ },
  }),
  exchange({
    id: "R19",
    title: "a header beyond Latin-1 is sent as UTF-8",
    target: "/header-unicode",
    want: { status: 200, headers: { "x-name": Buffer.from("Zoë 日本").toString("latin1") } },
  }),
  exchange({
    id: "answers",
    title: "a list of cookies becomes as many headers",
    target: "/cookies",
    want: { status: 200, headers: { "set-cookie": ["a=1", "b=2"] } },
  }),
  exchange({
    id: "answers",
    title: "multiValueHeaders win over headers of the same name",
    target: "/multi-headers",
    want: { status: 200, headers: { "x-a": ["1", "2"], "x-c": "c" } },
  }),
  {
    id: "security 19",
    title: "the handler sets no header of the platform, nor of the connection",
    run: async (pod) => {
      const connection = await pod.connect();
      const reply = await pod.call("/platform-headers", { connection });
      assert.equal(reply.body.toString(), "hello");
      assert.equal(reply.headers["x-sless-fault"], undefined);
      assert.deepEqual(reply.headers["x-sless-version-uid"], [pod.versionUid]);
      assert.equal(reply.headers["x-sless-run-ms"]?.length, 1);
      assert.deepEqual(reply.headers["content-length"], ["5"]);
      assert.equal(reply.headers["transfer-encoding"], undefined);
      assert.equal(reply.headers["x-drop"], undefined, "D39: a header that Connection names ends with it");
      assert.equal((await pod.call("/hello", { connection })).status, 200);
      connection.close();
    },
  },
];

const envelopes: ConformanceCase[] = [
  exchange({ id: "R23", title: "a status of digits works", target: "/status-text", want: { status: 201, body: "a" } }),
  ...["status-high", "status-word", "status-interim"].map((name) =>
    exchange({
      id: "R23",
      title: `${name}: a status that is none is refused, without the body`,
      target: `/${name}`,
      want: { status: 502, fault: "bad-result", says: /statusCode/ },
    }),
  ),
  exchange({
    id: "R23",
    title: "an object as body is sent as JSON",
    target: "/object-body",
    want: { status: 200, headers: { "content-type": JSON_TYPE }, json: { a: 1 } },
  }),
  exchange({
    id: "R23",
    title: "a body that is not the base64 it claims to be is refused",
    target: "/bad-base64",
    want: { status: 502, fault: "bad-result", says: /base64/ },
  }),
];

const unserializable: ConformanceCase[] = (
  [
    ["bare-bytes", /Buffer|bytes/],
    ["no-json", /Object|set/],
    ["no-json-either", /BigInt|datetime/],
    ["nan", /NaN/i],
    ["nan-in-body", /Infinity/i],
  ] as const
).map(([name, says]) =>
  exchange({
    id: "R08",
    title: `${name}: a result that cannot be sent is a fault that names the type`,
    target: `/${name}`,
    want: { status: 502, fault: "bad-result", says },
  }),
);

const thrown: ConformanceCase[] = [
  exchange({
    id: "R22",
    title: "an exception is a fault with type and message",
    target: "/throw",
    want: { status: 502, fault: "handler-error", says: /x went wrong/ },
  }),
  exchange({
    id: "R22",
    title: "an exception after an await is the same",
    target: "/throw-later",
    want: { status: 502, fault: "handler-error", says: /^TypeError: later/ },
  }),
  exchange({
    id: "R22",
    title: "something thrown that is no error is the same",
    only: "node",
    target: "/throw-text",
    want: { status: 502, fault: "handler-error", says: /only text/ },
  }),
  {
    id: "R22",
    title: "a fault shows the function's own lines and no path of the machine",
    run: async (pod) => {
      const reply = await pod.call("/throw-path");
      const body = jsonOf(reply) as { errorMessage: string; stackTrace: string[] };
      assert.ok(!reply.body.toString().includes(pod.codeDir), reply.body.toString());
      assert.match(body.errorMessage, /cannot read answers\.(mjs|py)/);
      assert.match(body.stackTrace.join("\n"), /answers\.(mjs|py)/);
    },
  },
  {
    id: "R08",
    title: "a good call follows all of these, in the same process",
    run: async (pod) => {
      const reply = await pod.call("/hello");
      assert.deepEqual([reply.status, reply.body.toString()], [200, "hello"]);
      assert.ok(Number(reply.headers["x-sless-run-ms"]?.[0]) >= 0);
    },
  },
];

export const ANSWER_GROUPS: readonly CaseGroup[] = [
  {
    title: "answers",
    pod: { entrypoint: "answers.handler" },
    cases: [...bodies, ...results, ...contentTypes, ...headers, ...envelopes, ...unserializable, ...thrown],
  },
];
