import { createHmac, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ConfigError, tenantHash, tenantNamespace } from "@sless/contracts";
import jwt from "jsonwebtoken";
import { Unavailable } from "../errors.js";
import { startApiFixture, type ApiFixture } from "../testing/api-fixture.js";
import { TEST_AUDIENCE, TEST_ISSUER } from "../testing/issuer.js";
import { createInsecureAuthenticator } from "./authenticator.js";
import { createJwks, KEYS_MAX_AGE_MS } from "./jwks.js";
import { makeAuthenticator } from "./make-authenticator.js";

const namespaceOf = (claim: string): string =>
  tenantNamespace(tenantHash({ issuer: TEST_ISSUER, claim, secondary: false }));
const now = (): number => Math.floor(Date.now() / 1000);
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("tokens", () => {
  let api: ApiFixture;
  beforeAll(async () => {
    api = await startApiFixture();
  });
  afterAll(() => api.close());

  const whoami = (token: string | undefined) => api.call("GET", "/v1/whoami", { token });

  it("says who the caller is", async () => {
    const { body } = await whoami(api.issuer.token("alice"));
    expect(body).toMatchObject({
      subject: "alice",
      issuer: TEST_ISSUER,
      namespace: namespaceOf("alice"),
      admin: false,
    });
  });

  const rows: readonly { name: string; token: () => string | undefined }[] = [
    { name: "none", token: () => undefined },
    { name: "an expired one", token: () => api.issuer.token("alice", { exp: now() - 61 }) },
    { name: "one without exp", token: () => api.issuer.token("alice", { exp: undefined }) },
    { name: "one that is not valid yet", token: () => api.issuer.token("alice", { nbf: now() + 120 }) },
    { name: "one by another issuer", token: () => api.issuer.token("alice", { iss: "https://evil.test" }) },
    { name: "one without issuer", token: () => api.issuer.token("alice", { iss: undefined }) },
    { name: "one for another audience", token: () => api.issuer.token("alice", { aud: "other" }) },
    { name: "one without audience", token: () => api.issuer.token("alice", { aud: undefined }) },
    { name: "one without the tenant claim", token: () => api.issuer.token("alice", { sub: undefined }) },
    { name: "a tenant claim that is a list", token: () => api.issuer.token("x", { sub: ["alice"] }) },
    { name: "an empty tenant claim", token: () => api.issuer.token("") },
    { name: "a tenant claim of 256 bytes", token: () => api.issuer.token("é".repeat(128)) },
    { name: "a tenant claim with a lone surrogate", token: () => api.issuer.token("a\ud800") },
    { name: "unknown critical extensions", token: () => api.issuer.token("alice", {}, { crit: ["x"], x: 1 }) },
    {
      name: "alg none",
      token: () =>
        `${encode({ alg: "none", typ: "JWT" })}.${encode({ sub: "alice", iss: TEST_ISSUER, aud: TEST_AUDIENCE, exp: now() + 60 })}.`,
    },
    {
      name: "one whose signature is cut off",
      token: () => `${api.issuer.token("alice").split(".").slice(0, 2).join(".")}.`,
    },
    {
      name: "one signed by HS256 with the public key",
      token: () => {
        const head = `${encode({ alg: "HS256", kid: api.issuer.key().kid })}.${encode({ sub: "alice", iss: TEST_ISSUER, aud: TEST_AUDIENCE, exp: now() + 60 })}`;
        const secret = JSON.stringify(api.issuer.key().jwk);
        return `${head}.${createHmac("sha256", secret).update(head).digest("base64url")}`;
      },
    },
    {
      name: "one signed with another key under a known name",
      token: () =>
        jwt.sign(
          { sub: "alice", iss: TEST_ISSUER, aud: TEST_AUDIENCE, exp: now() + 60 },
          generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
          {
            algorithm: "ES256",
            keyid: api.issuer.key().kid,
          },
        ),
    },
    {
      name: "an algorithm that is not the key's",
      token: () =>
        jwt.sign(
          { sub: "alice", iss: TEST_ISSUER, aud: TEST_AUDIENCE, exp: now() + 60 },
          generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
          {
            algorithm: "RS256",
            keyid: api.issuer.key().kid,
          },
        ),
    },
    { name: "text that is no token", token: () => "abc" },
    { name: "a very long one", token: () => api.issuer.token("alice", { pad: "x".repeat(20_000) }) },
  ];
  it.each(rows)("security 25: refuses $name", async ({ token }) => {
    const { status, headers, body } = await whoami(token());
    expect({ status, type: body.type }).toEqual({ status: 401, type: "/errors#unauthenticated" });
    expect(headers["www-authenticate"]).toMatch(/^Bearer/);
  });

  it("security 25: allows clocks to differ by a minute and no more", async () => {
    expect(await whoami(api.issuer.token("alice", { exp: now() - 50 }))).toMatchObject({ status: 200 });
    expect(await whoami(api.issuer.token("alice", { exp: now() - 70 }))).toMatchObject({ status: 401 });
  });

  it("security 25: takes no token from a query and logs none", async () => {
    const token = api.issuer.token("alice");
    expect(await api.call("GET", `/v1/whoami?access_token=${token}`)).toMatchObject({ status: 401 });
    await whoami(token);
    await whoami(api.issuer.token("alice", { exp: now() - 1000 }));
    expect(api.replica.logged.join("\n")).not.toContain(token.split(".")[2]);
  });

  it("security 24: tenants are byte-exact", async () => {
    const spellings = ["alice", "Alice", "alice ", "al\u0069\u0301ce", "al\u00edce"];
    const namespaces = await Promise.all(
      spellings.map(async (sub) => String((await whoami(api.issuer.token(sub))).body.namespace)),
    );
    expect(new Set(namespaces).size).toBe(spellings.length);
  });

  it.each([
    { scope: "sless:admin", admin: true },
    { scope: "read sless:admin", admin: true },
    { scope: ["sless:admin"], admin: true },
    { scope: "sless:administrator", admin: false },
    { scope: "SLESS:ADMIN", admin: false },
    { scope: ["read sless:admin"], admin: false },
    { scope: { "sless:admin": true }, admin: false },
  ])("security 24: scope $scope gives admin $admin", async ({ scope, admin }) => {
    expect((await whoami(api.issuer.token("root", { scope }))).body.admin).toBe(admin);
  });

  it("security 24, 7: a tenant reaches neither another's namespace nor learns whether it exists", async () => {
    const alice = api.issuer.token("alice");
    await api.call("POST", "/v1/namespaces/me/functions", {
      token: api.issuer.token("bob"),
      json: { name: "secret", runtime: "nodejs20", entrypoint: "index.handler" },
    });
    const detailOf = async (ns: string) => {
      const { status, body } = await api.call("GET", `/v1/namespaces/${ns}/functions/secret`, { token: alice });
      return { status, detail: body.detail };
    };
    const [bobs, nobodys, system] = await Promise.all(
      [namespaceOf("bob"), namespaceOf("nobody"), "kube-system"].map(detailOf),
    );
    expect(bobs?.status).toBe(403);
    expect([nobodys, system]).toEqual([bobs, bobs]);
    const admin = api.issuer.token("root", { scope: "sless:admin" });
    const path = `/v1/namespaces/${namespaceOf("bob")}/functions/secret`;
    expect(await api.call("GET", path, { token: admin })).toMatchObject({ status: 200 });
    expect(await api.call("GET", "/v1/namespaces/kube-system/functions", { token: admin })).toMatchObject({
      status: 403,
    });
  });
});

describe("the issuer's keys", () => {
  it("D33: a rotation locks nobody out, a flood of names costs a handful of fetches", async () => {
    const api = await startApiFixture();
    try {
      const whoami = async (token: string) => (await api.call("GET", "/v1/whoami", { token })).status;
      const old = api.issuer.token("alice");
      expect(await whoami(old)).toBe(200);
      api.issuer.rotate();
      expect(await whoami(api.issuer.token("alice"))).toBe(200);
      const before = api.issuer.fetches();
      const flood = await Promise.all(
        Array.from({ length: 500 }, (_, index) => whoami(api.issuer.token("alice", {}, { kid: `random-${index}` }))),
      );
      expect(new Set(flood)).toEqual(new Set([401]));
      expect(api.issuer.fetches() - before).toBeLessThanOrEqual(5);
      api.issuer.setDown(true);
      expect(await whoami(api.issuer.token("alice"))).toBe(200);
    } finally {
      await api.close();
    }
  });

  const jwk = { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }), kid: "k" };

  it("security 25: the last good keys serve for a day while the issuer is away, then 503", async () => {
    let time = 0;
    let away = false;
    const jwks = createJwks({
      now: () => time,
      // eslint-disable-next-line @typescript-eslint/require-await -- throws into the promise
      fetch: async () => {
        if (away) throw new Error("away");
        return [jwk];
      },
    });
    await jwks.find("k");
    away = true;
    time = KEYS_MAX_AGE_MS;
    expect((await jwks.find("k")).kid).toBe("k");
    time = KEYS_MAX_AGE_MS + 1;
    await expect(jwks.find("k")).rejects.toThrow(Unavailable);
  });

  it("drops keys that the issuer no longer lists", async () => {
    let time = 0;
    let listed: unknown[] = [jwk];
    const jwks = createJwks({ now: () => time, fetch: () => Promise.resolve(listed) });
    await jwks.find("k");
    listed = [{ ...jwk, kid: "new" }];
    time = 11 * 60_000;
    await jwks.find("new");
    await expect(jwks.find("k")).rejects.toThrow(/does not list/);
  });

  it("never takes symmetric keys or those for encryption", async () => {
    const listed = [
      { kty: "oct", k: "c2VjcmV0", kid: "s" },
      { ...jwk, kid: "e", use: "enc" },
      null,
      "x",
      { kty: "RSA", kid: "r" },
    ];
    const jwks = createJwks({ fetch: () => Promise.resolve(listed) });
    for (const kid of ["s", "e", "r"]) await expect(jwks.find(kid)).rejects.toThrow(/does not list/);
  });
});

describe("settings of authentication", () => {
  const base = {
    SLESS_AUTH_JWKS_URL: undefined,
    SLESS_AUTH_ISSUER: undefined,
    SLESS_AUTH_AUDIENCE: "sless",
    SLESS_AUTH_TENANT_CLAIM: "sub",
    SLESS_AUTH_ADMIN_CLAIM: "scope",
    SLESS_AUTH_ADMIN_SCOPE: "sless:admin",
    SLESS_AUTH_INSECURE: false,
  };
  it.each([
    { name: "neither keys nor insecure", config: {}, says: /SLESS_AUTH_JWKS_URL must be set/ },
    {
      name: "keys without an issuer",
      config: { SLESS_AUTH_JWKS_URL: "https://a.test/jwks" },
      says: /SLESS_AUTH_ISSUER/,
    },
    {
      name: "keys over plain http",
      config: { SLESS_AUTH_JWKS_URL: "http://a.test/jwks", SLESS_AUTH_ISSUER: "x" },
      says: /https/,
    },
    {
      name: "keys and insecure",
      config: { SLESS_AUTH_JWKS_URL: "https://a.test/jwks", SLESS_AUTH_ISSUER: "x", SLESS_AUTH_INSECURE: true },
      says: /contradicts/,
    },
  ])("refuses to start with $name", ({ config, says }) => {
    expect(() => makeAuthenticator({ ...base, ...config })).toThrow(ConfigError);
    expect(() => makeAuthenticator({ ...base, ...config })).toThrow(says);
  });

  it("insecure mode checks structure and exp, and makes nobody an administrator", async () => {
    const insecure = createInsecureAuthenticator({
      tenantClaim: "sub",
      adminClaim: "scope",
      adminScope: "sless:admin",
    });
    const bearer = (claims: object) => `Bearer ${jwt.sign(claims, "any", { noTimestamp: true })}`;
    expect(await insecure.authenticate(bearer({ sub: "a", scope: "sless:admin", exp: now() + 60 }))).toMatchObject({
      subject: "a",
      admin: false,
    });
    await expect(insecure.authenticate(bearer({ sub: "a", exp: now() - 100 }))).rejects.toThrow(/expired/);
    await expect(insecure.authenticate(bearer({ sub: "a" }))).rejects.toThrow(/exp/);
  });
});
