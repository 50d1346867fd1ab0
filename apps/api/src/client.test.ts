import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createClient, type SlessClient } from "@sless/client";
import AdmZip from "adm-zip";
import { startApiFixture, type ApiFixture } from "./testing/api-fixture.js";

describe("the typed client against the API", () => {
  let api: ApiFixture;
  let client: SlessClient;
  beforeAll(async () => {
    api = await startApiFixture();
    client = createClient({ endpoint: api.replica.url, token: () => api.issuer.token("alice") });
  });
  afterAll(async () => {
    await client.close();
    await api.close();
  });

  it("takes a function from nothing to its call and away again", async () => {
    expect(await client.whoami()).toMatchObject({ subject: "alice", functions_domain: "fn.test" });
    expect((await client.runtimes()).map(({ name }) => name)).toEqual(["nodejs20", "python3.11"]);

    const made = await client.functions.create({ name: "hello", runtime: "nodejs20", entrypoint: "index.handler" });
    const changed = await client.functions.patch(
      "hello",
      { memory_mb: 256 },
      made.etag === undefined ? {} : { ifMatch: made.etag },
    );
    expect(changed.value.memory_mb).toBe(256);

    const zip = new AdmZip();
    zip.addFile("index.js", Buffer.from("exports.handler = () => 1;"));
    const body = zip.toBuffer();
    const uploaded = await client.functions.upload("hello", { body, size: body.length });
    expect(uploaded.function?.code_digest).toBe(uploaded.code_digest);

    const trigger = await client.triggers.create({ name: "web", function: "hello", type: "http" });
    expect(trigger.value.http).toEqual({ path: "/", methods: [] });
    const names: string[] = [];
    for await (const fn of client.functions.all()) names.push(fn.name);
    expect(names).toEqual(["hello"]);

    const answer = await client.functions.invoke("hello", {
      method: "POST",
      path: "/a%2Fb?x=1",
      body: Buffer.from("hi"),
    });
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, "ok"]);
    expect(api.gateway.calls[0]).toMatchObject({ url: expect.stringMatching(/\/hello\/a%2Fb\?x=1$/), body: "hi" });

    const gone = client.functions.gone("hello", { timeout: 20 });
    await client.functions.delete("hello");
    await gone;
    await expect(client.functions.get("hello")).rejects.toMatchObject({
      status: 404,
      problem: { type: "/errors#not-found" },
    });
  });
});
