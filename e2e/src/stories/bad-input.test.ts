import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { artifactPrefix, FUNCTIONS } from "@sless/contracts";
import { buildZip, type ZipPart } from "@sless/testing";
import { eventually } from "../harness/eventually.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";
import { listObjects } from "../harness/services.js";

const MIB = 1024 * 1024;
const GOOD = { name: "good", runtime: "nodejs20", entrypoint: "index.handler" };

let platform: TestPlatform;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("bad-input");
  other = platform.tenant("somebody-else");
  await other.client.functions.create(GOOD);
  await tenant.client.functions.create({ ...GOOD, name: "target" });
});
afterAll(() => platform.stop());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string;
  readonly body?: string | Buffer;
  readonly type?: string;
}

const send = ({ method = "POST", path = "/v1/namespaces/me/functions", token = tenant.token, body, type }: Sent) =>
  call(`${platform.endpoint}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": type ?? "application/json" },
    ...(body === undefined ? {} : { body }),
  });

const names = async (): Promise<string[]> => {
  const { items } = await platform.kube.list(FUNCTIONS, { namespace: tenant.namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
};
/** Temporary files of the platform's components. */
const uploadFolders = () => readdirSync(join(platform.dataDir, "tmp"));

describe("a body that is wrong", () => {
  const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
  const CASES: readonly { name: string; body: string | object; status?: number; says: RegExp }[] = [
    { name: "malformed JSON", body: '{"name":', says: /JSON/ },
    { name: "nested too deep", body: deep, says: /nested/ },
    { name: "wrong types", body: { ...GOOD, memory_mb: "128", name: 5 }, says: /memory_mb.*number|number.*memory_mb/s },
    { name: "an unknown field", body: { ...GOOD, memory_bm: 128 }, says: /memory_bm/ },
    { name: "a name with capitals", body: { ...GOOD, name: "Hello" }, says: /name/ },
    { name: "a name with two dashes", body: { ...GOOD, name: "a--b" }, says: /name/ },
    { name: "a name of 41 characters", body: { ...GOOD, name: "a".repeat(41) }, says: /40/ },
    { name: "too little memory", body: { ...GOOD, memory_mb: 63 }, says: /64/ },
    { name: "R30: a timeout of 0", body: { ...GOOD, timeout_sec: 0 }, says: /1/ },
    { name: "R30: a timeout of -1", body: { ...GOOD, timeout_sec: -1 }, says: /1/ },
    { name: "R30: a timeout of 901", body: { ...GOOD, timeout_sec: 901 }, says: /900/ },
    { name: "R30: a timeout with a unit", body: { ...GOOD, timeout_sec: "1s" }, says: /number|integer/ },
    { name: "an invalid variable", body: { ...GOOD, env_vars: { "1A": "x" } }, says: /1A/ },
    { name: "a reserved variable", body: { ...GOOD, env_vars: { SLESS_PORT: "x" } }, says: /SLESS_/ },
    { name: "an entrypoint without an export", body: { ...GOOD, entrypoint: "index" }, says: /entrypoint/ },
    { name: "an unknown runtime", body: { ...GOOD, runtime: "cobol85" }, says: /runtime.*nodejs20/s },
    { name: "a body above the limit", body: { ...GOOD, x: "x".repeat(MIB) }, status: 413, says: /1048576/ },
  ];

  it.each(CASES)("$name: is refused and says what to change", async ({ body, status = 400, says }) => {
    const before = await names();
    const answer = await send({ body: typeof body === "string" ? body : JSON.stringify(body) });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(answer.text).toMatch(says);
    expect(answer.json()).toMatchObject({ request_id: expect.any(String), error: expect.any(String) });
    expect(await names()).toEqual(before);
  });

  it("security 22: __proto__ in a merge patch is refused", async () => {
    const body = '{"env_vars":{"__proto__":{"x":"y"}}}';
    const answer = await send({
      method: "PATCH",
      path: "/v1/namespaces/me/functions/target",
      type: "application/merge-patch+json",
      body,
    });
    expect(answer.status).toBe(400);
  });
});

describe("a zip that is wrong", () => {
  const handler: ZipPart = { name: "index.js", content: "exports.handler = () => 1;" };
  const whole = buildZip([handler, { name: "data.bin", content: Buffer.alloc(2000, 1), method: "store" }]);
  const CASES: readonly { name: string; zip: () => Buffer; says: RegExp }[] = [
    { name: "empty body", zip: () => Buffer.alloc(0), says: /empty/ },
    { name: "an empty zip", zip: () => buildZip([]), says: /no file|empty|nothing/i },
    { name: "no zip at all", zip: () => Buffer.from("hello"), says: /zip/ },
    { name: "encrypted", zip: () => buildZip([{ ...handler, flags: 0x801 }]), says: /encrypted|password/i },
    { name: "truncated", zip: () => whole.subarray(0, whole.length - 700), says: /zip|truncated|cut/i },
    {
      name: "a bomb",
      zip: () => buildZip([handler, { name: "bomb", content: Buffer.alloc(64 * MIB) }]),
      says: /compress|unpack|ratio|large/i,
    },
    { name: "../", zip: () => buildZip([handler, { name: "../evil.js", content: "x" }]), says: /\.\.\/evil\.js/ },
    {
      name: "an absolute path",
      zip: () => buildZip([handler, { name: "/etc/passwd", content: "x" }]),
      says: /etc\/passwd/,
    },
    {
      name: "a symlink that leaves the code",
      zip: () => buildZip([handler, { name: "link", content: "../../etc/passwd", mode: 0o120777 }]),
      says: /link/,
    },
    { name: "a duplicate", zip: () => buildZip([handler, handler]), says: /index\.js/ },
    {
      name: "100,000 entries",
      zip: () =>
        buildZip(
          Array.from({ length: 100_000 }, (_, index) => ({ name: `f${index}`, content: "", method: "store" as const })),
        ),
      says: /20000|entries|zip64|files/i,
    },
    {
      name: "no file for the entrypoint",
      zip: () => buildZip([{ name: "other.js", content: "" }]),
      says: /index\.handler.*index\.js/s,
    },
  ];

  it.each(CASES)("$name: is 400, says why, and leaves nothing", async ({ zip, says }) => {
    const { uid } = (await tenant.client.functions.get("target")).value;
    const answer = await send({
      path: "/v1/namespaces/me/functions/target/upload",
      type: "application/zip",
      body: zip(),
    });
    expect(answer.status).toBe(400);
    expect(answer.json()["detail"]).toMatch(says);
    expect(answer.text).not.toContain(platform.dataDir);
    expect(await listObjects(platform, artifactPrefix(tenant.namespace, uid))).toEqual([]);
    expect(uploadFolders()).toEqual([]);
    const { value } = await tenant.client.functions.get("target");
    expect(value.code_digest).toBeUndefined();
    expect(await tenant.client.functions.versions("target")).toEqual([]);
  });

  it("above the limit: is 413 before a byte is read", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const upload = request(`${platform.endpoint}/v1/namespaces/me/functions/target/upload`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tenant.token}`,
          "content-type": "application/zip",
          "content-length": 51 * MIB,
        },
      });
      upload.once("response", (response) => {
        resolve(response.statusCode);
        upload.destroy();
      });
      upload.once("error", reject);
      upload.flushHeaders();
    });
    expect(status).toBe(413);
    expect(uploadFolders()).toEqual([]);
  });

  it("of a client that hangs up in the middle: leaves no file and no object", async () => {
    const upload = request(`${platform.endpoint}/v1/namespaces/me/functions/target/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/zip", "content-length": MIB },
    });
    upload.once("error", () => undefined);
    upload.write(Buffer.alloc(64 * 1024));
    await eventually("the API receives it", 5000, () => uploadFolders().length === 1);
    upload.destroy();
    await eventually("its temporary folder is gone", 5000, () => uploadFolders().length === 0);
    const { uid } = (await tenant.client.functions.get("target")).value;
    expect(await listObjects(platform, artifactPrefix(tenant.namespace, uid))).toEqual([]);
  });
});

describe("a token that is wrong", () => {
  const foreignKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const subject = "bad-input";
  const CASES: readonly { name: string; token: () => string }[] = [
    { name: "none", token: () => "" },
    { name: "no JWT", token: () => "abc" },
    { name: "expired", token: () => platform.mint({ subject, ttlSec: -120 }) },
    { name: "unsigned", token: () => platform.mint({ subject }).replace(/\.[^.]*$/, ".") },
    { name: "alg none", token: () => platform.mint({ subject, algorithm: "none" }) },
    { name: "HS256 with the public key", token: () => platform.mint({ subject, algorithm: "HS256" }) },
    { name: "another issuer", token: () => platform.mint({ subject, issuer: "https://evil.example.com" }) },
    { name: "another audience", token: () => platform.mint({ subject, audience: "other" }) },
    { name: "a foreign key", token: () => platform.mint({ subject, key: foreignKey }) },
  ];

  it.each(CASES)("$name: is 401", async ({ token }) => {
    const answer = await send({ method: "GET", token: token() });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
  });

  it("of another tenant: is 403, or 404 for what need not exist, the same for both", async () => {
    const existing = await send({ method: "GET", path: `/v1/namespaces/${other.namespace}/functions/good` });
    const absent = await send({ method: "GET", path: `/v1/namespaces/${other.namespace}/functions/absent` });
    const nobody = await send({ method: "GET", path: `/v1/namespaces/sless-${"0".repeat(16)}/functions/good` });
    expect(existing.status).toBe(403);
    for (const answer of [absent, nobody]) expect(answer.status).toBe(existing.status);
  });
});
