import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { FUNCTIONS as FUNCTION_KIND, type Function } from "@sless/contracts";
import { startApiFixture, type Answer, type ApiFixture } from "../testing/api-fixture.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const HELLO = { runtime: "nodejs20", entrypoint: "index.handler" };

describe("functions", () => {
  let api: ApiFixture;
  let token: string;
  const create = (name: string, settings: object = {}): Promise<Answer> =>
    api.call("POST", FUNCTIONS, { token, json: { name, ...HELLO, ...settings } });

  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
  });
  afterAll(() => api.close());

  it("creates with defaults, and says where", async () => {
    const { status, body, headers } = await create("made", { env_vars: { A: "1" } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: "made",
      memory_mb: 128,
      timeout_sec: 30,
      env_vars: { A: "1" },
      keep_versions: 5,
    });
    expect(headers["location"]).toBe(`/v1/namespaces/${body.namespace}/functions/made`);
    expect(headers["etag"]).toMatch(/^"\d+"$/);
  });

  it("answers 409 for a name that is taken", async () => {
    await create("twice");
    expect(await create("twice")).toMatchObject({ status: 409, body: { type: "/errors#already-exists" } });
  });

  it("leaves alone what a PATCH does not name, and restores defaults for null", async () => {
    await create("patched", { memory_mb: 512, timeout_sec: 60, env_vars: { A: "1", B: "2" } });
    const { body } = await api.call("PATCH", `${FUNCTIONS}/patched`, {
      token,
      json: { memory_mb: null, env_vars: { B: null, C: "3" } },
    });
    expect(body).toMatchObject({ memory_mb: 128, timeout_sec: 60, env_vars: { A: "1", C: "3" } });
    expect(body.env_vars).not.toHaveProperty("B");
  });

  it("lets two PATCHes of different fields both count", async () => {
    await create("disjoint");
    const path = `${FUNCTIONS}/disjoint`;
    await Promise.all([
      api.call("PATCH", path, { token, json: { memory_mb: 256 } }),
      api.call("PATCH", path, { token, json: { timeout_sec: 77 } }),
    ]);
    const { body } = await api.call("GET", path, { token });
    expect(body).toMatchObject({ memory_mb: 256, timeout_sec: 77 });
  });

  it("writes nothing when a PATCH changes nothing", async () => {
    const { headers } = await create("same");
    const again = await api.call("PATCH", `${FUNCTIONS}/same`, { token, json: { memory_mb: 128 } });
    expect(again.headers["etag"]).toBe(headers["etag"]);
  });

  it("validates a PUT as a create, gives defaults to what it does not name, and keeps the code", async () => {
    const { body: made } = await create("put", { memory_mb: 512, env_vars: { A: "1" } });
    const key = `${made.namespace}/${made.uid}/${"c".repeat(64)}.tar.gz`;
    const at = { namespace: made.namespace as string, name: "put" };
    await api.cluster.kube.mergePatch<Function>(FUNCTION_KIND, at, { spec: { s3Key: key } });

    const missing = await api.call("PUT", `${FUNCTIONS}/put`, { token, json: { memory_mb: 256 } });
    expect(missing).toMatchObject({ status: 400 });
    expect(missing.body.errors).toEqual([
      { pointer: "/runtime", message: "is required" },
      { pointer: "/entrypoint", message: "is required" },
    ]);
    const { body } = await api.call("PUT", `${FUNCTIONS}/put`, { token, json: HELLO });
    expect(body).toMatchObject({ memory_mb: 128, env_vars: {}, code_digest: "c".repeat(64) });
  });

  it("does not create by PUT or PATCH", async () => {
    for (const method of ["PUT", "PATCH"]) {
      expect(await api.call(method, `${FUNCTIONS}/nothing`, { token, json: HELLO })).toMatchObject({ status: 404 });
    }
  });

  it("deletes, and then it is gone", async () => {
    await create("gone");
    expect(await api.call("DELETE", `${FUNCTIONS}/gone`, { token })).toMatchObject({ status: 204 });
    expect(await api.call("GET", `${FUNCTIONS}/gone`, { token })).toMatchObject({ status: 404 });
    expect(await api.call("DELETE", `${FUNCTIONS}/gone`, { token })).toMatchObject({ status: 404 });
  });

  it("R4: answers 412 with the current ETag to a stale If-Match, and 304 to If-None-Match", async () => {
    const { headers: first } = await create("tagged");
    const path = `${FUNCTIONS}/tagged`;
    const changed = await api.call("PATCH", path, {
      token,
      json: { memory_mb: 256 },
      headers: { "if-match": String(first["etag"]) },
    });
    expect(changed.status).toBe(200);
    const stale = await api.call("PATCH", path, {
      token,
      json: { memory_mb: 512 },
      headers: { "if-match": String(first["etag"]) },
    });
    expect(stale).toMatchObject({ status: 412, headers: { etag: changed.headers["etag"] } });
    const etag = String(changed.headers["etag"]);
    expect(await api.call("GET", path, { token, headers: { "if-none-match": etag } })).toMatchObject({ status: 304 });
    expect(await api.call("DELETE", path, { token, headers: { "if-match": '"1"' } })).toMatchObject({ status: 412 });
    expect(await api.call("DELETE", path, { token, headers: { "if-match": etag } })).toMatchObject({ status: 204 });
  });

  it("security 23: of 50 PUTs with one ETag over two replicas exactly one succeeds", async () => {
    const other = await api.addReplica();
    const { headers } = await create("raced");
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        api.call("PUT", `${FUNCTIONS}/raced`, {
          token,
          json: { ...HELLO, memory_mb: 64 + index },
          headers: { "if-match": String(headers["etag"]) },
          ...(index % 2 === 0 && { replica: other }),
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 412)]);
  });

  it("lets 20 PUTs at once without If-Match all succeed", async () => {
    await create("busy");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.call("PUT", `${FUNCTIONS}/busy`, { token, json: { ...HELLO, memory_mb: 64 + index } }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  describe("R3, security 23: Idempotency-Key", () => {
    const keyed = (key: string, json: object, path = FUNCTIONS, method = "POST"): Promise<Answer> =>
      api.call(method, path, { token, json, headers: { "idempotency-key": key } });

    it("makes one function of two POSTs at once, and answers both alike", async () => {
      const json = { name: "once", ...HELLO };
      const [a, b] = await Promise.all([keyed("k-once", json), keyed("k-once", json)]);
      expect([a?.status, b?.status]).toEqual([201, 201]);
      expect(a?.body).toEqual(b?.body);
    });

    it("answers a repetition the same from another replica, and refuses the key with another body", async () => {
      const json = { name: "replayed", ...HELLO };
      const first = await keyed("k-replay", json);
      const other = await api.addReplica();
      const again = await api.call("POST", FUNCTIONS, {
        token,
        json,
        replica: other,
        headers: { "idempotency-key": "k-replay" },
      });
      expect(again).toMatchObject({ status: 201, body: first.body });
      const mismatch = { status: 422, body: { type: "/errors#idempotency-mismatch" } };
      expect(await keyed("k-replay", { ...json, memory_mb: 256 })).toMatchObject(mismatch);
      expect(await keyed("k-replay", { ...json, name: "another" })).toMatchObject(mismatch);
    });

    it("is another key for another tenant, method and path", async () => {
      await keyed("k-scope", { name: "scoped", ...HELLO });
      const patched = await keyed("k-scope", { memory_mb: 256 }, `${FUNCTIONS}/scoped`, "PATCH");
      expect(patched).toMatchObject({ status: 200, body: { memory_mb: 256 } });
      const foreign = await api.call("POST", FUNCTIONS, {
        token: api.issuer.token("bob"),
        json: { name: "scoped", ...HELLO, memory_mb: 512 },
        headers: { "idempotency-key": "k-scope" },
      });
      expect(foreign).toMatchObject({ status: 201, body: { memory_mb: 512 } });
    });

    it("does a PATCH once, also when others came between", async () => {
      await create("patch-once");
      const path = `${FUNCTIONS}/patch-once`;
      await keyed("k-1", { memory_mb: 256 }, path, "PATCH");
      await keyed("k-2", { memory_mb: 512 }, path, "PATCH");
      expect(await keyed("k-1", { memory_mb: 256 }, path, "PATCH")).toMatchObject({ body: { memory_mb: 512 } });
      expect(await keyed("k-1", { memory_mb: 300 }, path, "PATCH")).toMatchObject({ status: 422 });
    });
  });

  it("R5: pages through a list that changes meanwhile, none twice and none missing", async () => {
    const carol = api.issuer.token("carol");
    const add = (name: string) => api.call("POST", FUNCTIONS, { token: carol, json: { name, ...HELLO } });
    const names = Array.from({ length: 25 }, (_, index) => `f${String(index).padStart(2, "0")}`);
    for (const name of names) await add(name);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? "" : `&continue=${encodeURIComponent(cursor)}`;
      const { body } = await api.call("GET", `${FUNCTIONS}?limit=10${query}`, { token: carol });
      seen.push(...(body.items as { name: string }[]).map(({ name }) => name));
      cursor = body.continue;
      await add(`a${seen.length}`);
    } while (cursor !== undefined);
    expect(seen).toEqual(names);
  });
});
