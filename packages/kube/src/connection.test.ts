import { afterEach, describe, expect, it } from "@jest/globals";
import { createConnection } from "./connection.js";
import { createKubeClient } from "./http-client.js";
import { configMaps } from "./resources.js";
import { sendJson, startScriptedApiServer, type ScriptedApiServer } from "./testing/scripted-api-server.js";

const kubeconfig = (server: string, user: object): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "c", cluster: { server } },
      { name: "other", cluster: { server: "http://127.0.0.1:1" } },
    ],
    users: [{ name: "u", user }],
    contexts: [
      { name: "main", context: { cluster: "c", user: "u" } },
      { name: "second", context: { cluster: "other", user: "u" } },
      { name: "broken", context: { cluster: "missing", user: "u" } },
    ],
    "current-context": "main",
  });

let server: ScriptedApiServer | undefined;
afterEach(() => server?.close());

describe("a kubeconfig", () => {
  it.each([
    ["a token", { token: "t" }, "Bearer t"],
    ["a user and password", { username: "sless", password: "p" }, `Basic ${Buffer.from("sless:p").toString("base64")}`],
  ])("over plain HTTP authenticates with %s", async (_name, user, expected) => {
    server = await startScriptedApiServer((_request, response) => sendJson(response, 200, { metadata: { name: "a" } }));
    const client = await createKubeClient({ kubeconfig: kubeconfig(`${server.url}/prefix/`, user) });
    await client.get(configMaps, { namespace: "n", name: "a" });
    client.close();
    expect(server.requests[0]?.headers.authorization).toBe(expected);
    expect(server.requests[0]?.path).toBe("/prefix/api/v1/namespaces/n/configmaps/a");
  });

  it("is read by context", async () => {
    const text = kubeconfig("http://127.0.0.1:2", {});
    expect((await createConnection({ kubeconfig: text })).baseUrl.port).toBe("2");
    expect((await createConnection({ kubeconfig: text, context: "second" })).baseUrl.port).toBe("1");
    await expect(createConnection({ kubeconfig: text, context: "broken" })).rejects.toThrow(
      'current context "broken" names no cluster',
    );
  });

  it("that cannot be read is an error at once", async () => {
    await expect(createConnection({ kubeconfigPath: "/nonexistent/kubeconfig" })).rejects.toThrow("ENOENT");
  });
});
