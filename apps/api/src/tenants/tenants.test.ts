import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { tenantHash, tenantNamespace, TENANTS, type Tenant } from "@sless/contracts";
import { namespaces } from "@sless/kube";
import { eventually } from "@sless/kube/testing";
import { startApiFixture, type ApiFixture } from "../testing/api-fixture.js";
import { TEST_ISSUER } from "../testing/issuer.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const HELLO = { name: "hello", runtime: "nodejs20", entrypoint: "index.handler" };
const hashOf = (claim: string): string => tenantHash({ issuer: TEST_ISSUER, claim, secondary: false });
const namespaceOf = (claim: string): string => tenantNamespace(hashOf(claim));

describe("tenants", () => {
  let api: ApiFixture;
  beforeAll(async () => {
    api = await startApiFixture();
  });
  afterAll(() => api.close());

  const tenantNames = async (): Promise<string[]> =>
    (await api.cluster.kube.list<Tenant>(TENANTS)).items.map(({ metadata }) => metadata.name);

  it("are made by the first write, not by reading", async () => {
    const token = api.issuer.token("first");
    await api.call("GET", "/v1/whoami", { token });
    expect(await api.call("GET", FUNCTIONS, { token })).toMatchObject({ status: 200, body: { items: [] } });
    expect(await api.call("GET", `${FUNCTIONS}/hello`, { token })).toMatchObject({ status: 404 });
    expect(await tenantNames()).not.toContain(namespaceOf("first"));
    expect(await api.call("POST", FUNCTIONS, { token, json: HELLO })).toMatchObject({ status: 201 });
    const tenant = await api.cluster.kube.get<Tenant>(TENANTS, { name: namespaceOf("first") });
    expect(tenant.spec).toMatchObject({ hash: hashOf("first"), owner: { issuer: TEST_ISSUER, subject: "first" } });
  });

  it("are made once by many first writes at once over two replicas", async () => {
    const [token, other] = [api.issuer.token("rush"), await api.addReplica()];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        api.call("POST", FUNCTIONS, {
          token,
          json: { ...HELLO, name: `f${index}` },
          ...(index % 2 === 0 && { replica: other }),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  });

  it("stay when everything in them is deleted", async () => {
    const token = api.issuer.token("stays");
    await api.call("POST", FUNCTIONS, { token, json: HELLO });
    await api.call("DELETE", `${FUNCTIONS}/hello`, { token });
    expect(await tenantNames()).toContain(namespaceOf("stays"));
  });

  it("security 24: whose name another hash holds is refused at every request", async () => {
    const token = api.issuer.token("victim");
    await api.cluster.kube.create<Tenant>(TENANTS, {
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Tenant",
      metadata: { name: namespaceOf("victim") },
      spec: { owner: { issuer: TEST_ISSUER, subject: "other" }, hash: "f".repeat(64), hosts: [] },
    });
    for (const [method, path, json] of [
      ["GET", FUNCTIONS, undefined],
      ["POST", FUNCTIONS, HELLO],
      ["DELETE", `/v1/namespaces/me?confirm=${namespaceOf("victim")}`, undefined],
      ["POST", `${FUNCTIONS}/hello/invoke`, undefined],
    ] as const) {
      expect(await api.call(method, path, { token, json })).toMatchObject({ status: 403 });
    }
    expect(await tenantNames()).toContain(namespaceOf("victim"));
  });

  describe("security 7: deletion", () => {
    it("takes the name once more, and then begins", async () => {
      const token = api.issuer.token("leaver");
      await api.call("POST", FUNCTIONS, { token, json: HELLO });
      const ns = namespaceOf("leaver");
      expect(await api.call("DELETE", `/v1/namespaces/${ns}`, { token })).toMatchObject({ status: 400 });
      expect(await api.call("DELETE", "/v1/namespaces/me?confirm=me", { token })).toMatchObject({ status: 400 });
      expect(await api.call("DELETE", `/v1/namespaces/me?confirm=${ns}`, { token })).toMatchObject({ status: 202 });
      await eventually("the Tenant is gone", async () => !(await tenantNames()).includes(ns));
      expect(await api.call("DELETE", `/v1/namespaces/me?confirm=${ns}`, { token })).toMatchObject({ status: 404 });
    });

    it.each(["kube-system", "sless", "default", "sless-fn-sless-0123456789abcdef", namespaceOf("nobody")])(
      "never touches %s, whatever the caller's scope",
      async (ns) => {
        const path = `/v1/namespaces/${ns}?confirm=${ns}`;
        const admin = api.issuer.token("root", { scope: "sless:admin" });
        expect([403, 404]).toContain((await api.call("DELETE", path, { token: admin })).status);
        expect(await api.call("DELETE", path, { token: api.issuer.token("mallory") })).toMatchObject({ status: 403 });
        expect((await api.cluster.kube.list(namespaces)).items.map(({ metadata }) => metadata.name)).toContain(
          "kube-system",
        );
      },
    );

    it("is not another tenant's to ask for, but an administrator's", async () => {
      await api.call("POST", FUNCTIONS, { token: api.issuer.token("target"), json: HELLO });
      const ns = namespaceOf("target");
      const path = `/v1/namespaces/${ns}?confirm=${ns}`;
      expect(await api.call("DELETE", path, { token: api.issuer.token("mallory") })).toMatchObject({ status: 403 });
      const admin = api.issuer.token("root", { scope: "sless:admin" });
      expect(await api.call("DELETE", path, { token: admin })).toMatchObject({ status: 202 });
    });
  });
});

describe("pages", () => {
  let api: ApiFixture;
  beforeAll(async () => {
    api = await startApiFixture();
  });
  afterAll(() => api.close());

  it("R2: /openapi.json describes every route, and only those", async () => {
    const { body } = await api.call("GET", "/openapi.json");
    const paths = body.paths as Record<string, object>;
    expect(body.openapi).toBe("3.1.0");
    const invoke = "/v1/namespaces/{ns}/functions/{name}/invoke";
    for (const [template, operations] of Object.entries(paths)) {
      if (template === invoke) continue;
      const path = template.replace("{ns}", "me").replace("{name}", "hello");
      const { status, headers } = await api.call("TRACE", path);
      const described = Object.keys(operations).map((method) => method.toUpperCase());
      const answered = String(headers["allow"])
        .split(", ")
        .filter((method) => method !== "HEAD");
      expect({ template, status, answered: answered.sort() }).toEqual({
        template,
        status: 405,
        answered: described.sort(),
      });
    }
  });

  it.each(["/", "/errors"])("security 32: %s loads nothing from elsewhere and runs nothing", async (path) => {
    const { body, headers } = await api.call("GET", path);
    expect(headers["content-type"]).toMatch(/^text\/html/);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(body).not.toMatch(/<script|src=|href="(https?:)?\/\/|@import|url\(/i);
  });

  it("lists runtimes, also those that are not available", async () => {
    const { body } = await api.call("GET", "/v1/runtimes", { token: api.issuer.token("alice") });
    expect(body.items).toMatchObject([
      { name: "nodejs20", available: true },
      { name: "python3.11", available: false, message: expect.any(String) },
    ]);
  });
});
