import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startApiFixture, type ApiFixture } from "../testing/api-fixture.js";

const FUNCTIONS = "/v1/namespaces/me/functions";
const HELLO = { runtime: "nodejs20", entrypoint: "index.handler" };

describe("functions", () => {
  let api: ApiFixture;
  let token: string;
  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
  });
  afterAll(() => api.close());

  it("creates, reads, replaces, patches and deletes", async () => {
    const created = await api.call("POST", FUNCTIONS, {
      token,
      json: { name: "crud", ...HELLO, env_vars: { A: "1", B: "2" } },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: "crud", memory_mb: 128, timeout_sec: 30, env_vars: { A: "1", B: "2" } });
    expect(created.headers["location"]).toBe(`/v1/namespaces/${created.body.namespace}/functions/crud`);
  });
});
