import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createIssuer, type Issuer } from "./issuer.js";

let dataDir: string;
let issuer: Issuer;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "issuer-"));
  issuer = await createIssuer({ dataDir, audience: "sless" });
});
afterEach(async () => {
  await issuer.close();
  await rm(dataDir, { recursive: true, force: true });
});

const getJson = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;
const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;

/** As a stranger does it: discovery, key set, signature. */
const verifyToken = async (token: string, discoveryUrl: string): Promise<Record<string, unknown>> => {
  const { jwks_uri } = await getJson<{ jwks_uri: string }>(`${discoveryUrl}/.well-known/openid-configuration`);
  const { keys } = await getJson<{ keys: JsonWebKey[] }>(jwks_uri);
  const [header = "", claims = "", signature = ""] = token.split(".");
  const key = keys.find(({ kid }) => kid === decode(header)["kid"]);
  const publicKey = createPublicKey({ key: key ?? {}, format: "jwk" });
  expect(verify("RSA-SHA256", Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, "base64url"))).toBe(
    true,
  );
  return decode(claims);
};

describe("the local issuer", () => {
  it("mints tokens that its published key verifies", async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = await verifyToken(issuer.mintToken({ sub: "alice", ttlSec: 60, scope: "sless:admin" }), issuer.url);
    expect(claims).toMatchObject({ iss: issuer.url, aud: "sless", sub: "alice", scope: "sless:admin" });
    expect((claims["exp"] as number) - now).toBeLessThanOrEqual(61);
  });

  it("keeps its key over a restart, for its owner's eyes only", async () => {
    const token = issuer.mintToken({ sub: "alice", ttlSec: 60 });
    await issuer.close();
    issuer = await createIssuer({ dataDir, audience: "sless" });
    expect(await verifyToken(token, issuer.url)).toMatchObject({ sub: "alice" });
    expect((await stat(join(dataDir, "issuer.key"))).mode & 0o777).toBe(0o600);
  });

  it("security 31: shows the public half alone, to nobody's web page", async () => {
    const { keys } = await getJson<{ keys: JsonWebKey[] }>(issuer.jwksUrl);
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
    expect((await fetch(issuer.jwksUrl, { headers: { Origin: "http://evil.example" } })).status).toBe(403);
    expect((await fetch(issuer.jwksUrl, { method: "POST" })).status).toBe(404);
  });
});
