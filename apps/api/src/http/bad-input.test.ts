import { request as rawRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startApiFixture, type Answer, type ApiFixture } from "../testing/api-fixture.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const GOOD = { name: "hello", runtime: "nodejs20", entrypoint: "index.handler" };

interface BadBody {
  readonly name: string;
  readonly body: string | object;
  readonly status?: number;
  /** Pointers of the field errors, all of them. */
  readonly pointers?: readonly string[];
  /** Words that tell what to change. */
  readonly says: RegExp;
  readonly headers?: Record<string, string>;
}

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const manyVariables = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`V${index}`, ""]));

const CASES: readonly BadBody[] = [
  { name: "malformed JSON", body: '{"name":', says: /not JSON/ },
  { name: "an empty body", body: "", says: /empty/ },
  { name: "JSON that is no object", body: "[]", pointers: [""], says: /must be an object/ },
  { name: "a body that is not UTF-8", body: Buffer.from([0x7b, 0xff, 0x7d]), says: /UTF-8/ },
  { name: "JSON nested too deep", body: deep(33), says: /nested 33 deep; at most 32/ },
  { name: "a deep bomb without an end", body: "[".repeat(500_000), says: /nested/ },
  {
    name: "a body above 1 MiB",
    body: JSON.stringify({ ...GOOD, x: "a".repeat(1 << 20) }),
    status: 413,
    says: /1048576/,
  },
  {
    name: "another media type",
    body: "{}",
    headers: { "content-type": "text/plain" },
    status: 415,
    says: /application\/json/,
  },
  { name: "a compressed body", body: "{}", headers: { "content-encoding": "gzip" }, status: 415, says: /gzip/ },
  {
    name: "wrong types, all at once",
    body: { name: 5, runtime: {}, entrypoint: null, memory_mb: "128" },
    pointers: ["/runtime", "/entrypoint", "/memory_mb", "/name"],
    says: /must be a/,
  },
  {
    name: "an unknown field, with what was meant",
    body: { ...GOOD, memory: 128, memory_bm: 128 },
    pointers: ["/memory", "/memory_bm"],
    says: /did you mean memory_mb/,
  },
  {
    name: "an unknown field inside",
    body: { ...GOOD, scale: { mn: 1 } },
    pointers: ["/scale/mn"],
    says: /did you mean min/,
  },
  {
    name: "a name beyond the rule: length",
    body: { ...GOOD, name: "a".repeat(41) },
    pointers: ["/name"],
    says: /at most 40/,
  },
  {
    name: "a name beyond the rule: double dash",
    body: { ...GOOD, name: "a--b" },
    pointers: ["/name"],
    says: /single dashes/,
  },
  {
    name: "a name beyond the rule: upper case",
    body: { ...GOOD, name: "Hello" },
    pointers: ["/name"],
    says: /lower-case/,
  },
  { name: "memory below the range", body: { ...GOOD, memory_mb: 63 }, pointers: ["/memory_mb"], says: /at least 64/ },
  {
    name: "memory above the range",
    body: { ...GOOD, memory_mb: 8193 },
    pointers: ["/memory_mb"],
    says: /at most 8192/,
  },
  { name: "R30: a timeout of 0", body: { ...GOOD, timeout_sec: 0 }, pointers: ["/timeout_sec"], says: /at least 1/ },
  {
    name: "R30: a negative timeout",
    body: { ...GOOD, timeout_sec: -1 },
    pointers: ["/timeout_sec"],
    says: /at least 1/,
  },
  {
    name: "R30: a timeout above the maximum",
    body: { ...GOOD, timeout_sec: 901 },
    pointers: ["/timeout_sec"],
    says: /at most 900/,
  },
  {
    name: "R30: a timeout with a unit",
    body: { ...GOOD, timeout_sec: "1s" },
    pointers: ["/timeout_sec"],
    says: /number/,
  },
  {
    name: "a timeout that is no whole number",
    body: { ...GOOD, timeout_sec: 1.5 },
    pointers: ["/timeout_sec"],
    says: /whole number/,
  },
  {
    name: "an invalid name of a variable",
    body: { ...GOOD, env_vars: { "1A": "" } },
    pointers: ["/env_vars/1A"],
    says: /letter or _/,
  },
  {
    name: "a reserved prefix of a variable",
    body: { ...GOOD, env_vars: { SLESS_X: "" } },
    pointers: ["/env_vars/SLESS_X"],
    says: /platform's/,
  },
  {
    name: "a reserved name of a variable",
    body: { ...GOOD, env_vars: { NODE_OPTIONS: "" } },
    pointers: ["/env_vars/NODE_OPTIONS"],
    says: /platform/,
  },
  { name: "a value that is no text", body: { ...GOOD, env_vars: { A: 1 } }, pointers: ["/env_vars/A"], says: /string/ },
  {
    name: "too many variables",
    body: { ...GOOD, env_vars: manyVariables },
    pointers: ["/env_vars"],
    says: /100 variables/,
  },
  { name: "no entrypoint", body: { name: "hello", runtime: "nodejs20" }, pointers: ["/entrypoint"], says: /required/ },
  {
    name: "an entrypoint that is a path",
    body: { ...GOOD, entrypoint: "../index.handler" },
    pointers: ["/entrypoint"],
    says: /exported handler/,
  },
  {
    name: "an unknown runtime, naming those there are",
    body: { ...GOOD, runtime: "cobol60" },
    pointers: ["/runtime"],
    says: /nodejs20, python3\.11/,
  },
  {
    name: "traffic that is not 100 %",
    body: { ...GOOD, traffic: [{ version: 1, percent: 90 }] },
    pointers: ["/traffic"],
    says: /100/,
  },
  {
    name: "a digest before there is code",
    body: { ...GOOD, code_digest: "a".repeat(64) },
    pointers: ["/code_digest"],
    says: /upload/,
  },
  {
    name: "security 22: __proto__",
    body: '{"name":"x","__proto__":{"admin":true}}',
    pointers: ["/__proto__"],
    says: /never accepted/,
  },
  {
    name: "security 22: constructor inside a map",
    body: '{"env_vars":{"constructor":"x"}}',
    pointers: ["/env_vars/constructor"],
    says: /never accepted/,
  },
];

describe("bad input", () => {
  let api: ApiFixture;
  let token: string;
  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
    await api.call("POST", FUNCTIONS, { token, json: { ...GOOD, name: "there" } });
  });
  afterAll(() => api.close());

  const post = (body: string | object, headers: Record<string, string> = {}): Promise<Answer> => {
    const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return api.call("POST", FUNCTIONS, {
      token,
      body: bytes,
      headers: { "content-type": "application/json", ...headers },
    });
  };

  const expectProblem = ({ status, headers, body }: Answer, wanted: number): void => {
    expect({ status, type: headers["content-type"] }).toEqual({
      status: wanted,
      type: expect.stringMatching(/^application\/problem\+json/),
    });
    expect(body.request_id).toBe(headers["x-request-id"]);
    expect(body.error).toBe(body.detail);
  };

  it.each(CASES)("refuses $name", async ({ body, status = 400, pointers, says, headers }) => {
    const answer = await post(body, headers);
    expectProblem(answer, status);
    expect(answer.body.detail).toMatch(says);
    if (pointers) expect((answer.body.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual(pointers);
    expect((await api.call("GET", `${FUNCTIONS}/hello`, { token })).status).toBe(404);
  });

  it.each([
    { name: "an unknown path", method: "GET", path: "/v2/things", status: 404 },
    { name: "an unknown method", method: "PATCH", path: "/v1/whoami", status: 405, allow: "GET, HEAD" },
    {
      name: "a wrong method of an item",
      method: "POST",
      path: `${FUNCTIONS}/there`,
      status: 405,
      allow: "GET, HEAD, PUT, PATCH, DELETE",
    },
    { name: "a path that can't be decoded", method: "GET", path: `${FUNCTIONS}/%ff`, status: 400 },
    { name: "a name that can't exist", method: "GET", path: `${FUNCTIONS}/..%2f..%2fsecrets`, status: 404 },
    { name: "an unknown query parameter", method: "GET", path: `${FUNCTIONS}?limt=5`, status: 400, says: /limit/ },
    { name: "a repeated query parameter", method: "GET", path: `${FUNCTIONS}?limit=5&limit=6`, status: 400 },
    { name: "a limit beyond the range", method: "GET", path: `${FUNCTIONS}?limit=501`, status: 400, says: /500/ },
    { name: "a cursor that is none", method: "GET", path: `${FUNCTIONS}?continue=AAAA`, status: 400 },
    {
      name: "a wait for something else",
      method: "GET",
      path: `${FUNCTIONS}/there?wait=done`,
      status: 400,
      says: /ready, gone/,
    },
    {
      name: "a wait beyond the range",
      method: "GET",
      path: `${FUNCTIONS}/there?wait=ready&timeout=301`,
      status: 400,
      says: /300/,
    },
    {
      name: "a since that is no time",
      method: "GET",
      path: `${FUNCTIONS}/there/logs?since=yesterday`,
      status: 400,
      says: /15m/,
    },
    {
      name: "an If-Match without quotes",
      method: "DELETE",
      path: `${FUNCTIONS}/there`,
      status: 400,
      headers: { "if-match": "5" },
    },
  ] as const)("R1: answers $name as a problem", async (row) => {
    const answer = await api.call(row.method, row.path, { token, ...("headers" in row && { headers: row.headers }) });
    expectProblem(answer, row.status);
    if ("allow" in row) expect(answer.headers["allow"]).toBe(row.allow);
    if ("says" in row) expect(JSON.stringify(answer.body)).toMatch(row.says);
  });

  it("R1: every type leads to a paragraph of /errors", async () => {
    const { body } = await api.call("GET", "/errors");
    for (const kind of ["invalid-request", "too-large", "precondition-failed", "unavailable"]) {
      expect(body).toContain(`id="${kind}"`);
    }
  });

  it("reads a refused large body to its end, so that the client can read why", async () => {
    const answer = await new Promise<{ status: number | undefined }>((resolve, reject) => {
      const url = new URL(FUNCTIONS, api.replica.url);
      const req = rawRequest(url, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": 8 << 20 },
      });
      req.on("response", (res) => {
        res.resume();
        resolve({ status: res.statusCode });
      });
      req.on("error", reject);
      req.end(Buffer.alloc(8 << 20, 0x20));
    });
    expect(answer.status).toBe(413);
  });

  it.each([
    ["an unknown method", "FOO / HTTP/1.1\r\n\r\n", 400],
    ["no text", "\0\0\0\0", 400],
    ["another protocol", "GET / HTTP/9.9\r\n\r\n", 400],
    ["two lengths", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400],
    ["a head too large", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"a".repeat(40_000)}\r\n\r\n`, 431],
  ])("R1: answers a request that can't be read, %s, as a problem", async (_name, text, status) => {
    const { hostname, port } = new URL(api.replica.url);
    const answer = await new Promise<string>((resolve) => {
      let received = "";
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
      socket.once("close", () => resolve(received));
      socket.once("error", () => undefined);
    });
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("Content-Type: application/problem+json");
    expect(JSON.parse(body)).toMatchObject({ status });
    expect((await api.call("GET", "/v1/whoami", { token })).status).toBe(200);
  });

  it("D37: neither unknown paths, nor names through invoke, nor odd methods make series", async () => {
    const seriesOf = async () =>
      (await api.replica.metrics.text())
        .split("\n")
        .filter((line) => line.startsWith("sless_api_request_duration_seconds_count"));
    await api.call("GET", "/v1/nothing", { token });
    await api.call("GET", `${FUNCTIONS}/there/invoke/x`, { token });
    await api.call("PROPFIND", "/v1/nothing", { token });
    const before = (await seriesOf()).length;
    for (let index = 0; index < 100; index++) {
      await api.call("GET", `/v1/nothing/${index}`, { token });
      await api.call("GET", `${FUNCTIONS}/f${index}/invoke/${index}`, { token });
      await api.call(index % 2 === 0 ? "PROPFIND" : "MKCOL", `/${index}`, { token });
    }
    const after = await seriesOf();
    expect(after.length).toBe(before);
    expect(after.join("\n")).toContain('route="unmatched"');
  });
});
