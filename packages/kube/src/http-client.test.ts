import { afterEach, describe, expect, it } from "@jest/globals";
import type { KubeClient } from "./client.js";
import { ConflictError, NotFoundError, ServerError, TimeoutError, TransportError } from "./errors.js";
import { createKubeClient } from "./http-client.js";
import { configMaps, deployments, namespaces, pods } from "./resources.js";
import { listAll } from "./client.js";
import {
  sendJson,
  sendStatus,
  startScriptedApiServer,
  type RequestScript,
  type ScriptedApiServer,
} from "./testing/scripted-api-server.js";

let server: ScriptedApiServer;
let client: KubeClient;

const start = async (script: RequestScript): Promise<void> => {
  server = await startScriptedApiServer(script);
  client = await createKubeClient({ server: server.url, token: "secret-token" });
};

afterEach(async () => {
  client.close();
  await server.close();
});

const KEY = { namespace: "team", name: "app" };
const OBJECT = { metadata: { ...KEY }, data: { a: "1" } };
const echo: RequestScript = (_request, response) => sendJson(response, 200, OBJECT);

describe("requests", () => {
  const PATH = "/api/v1/namespaces/team/configmaps";

  it.each<{ name: string; call: (on: KubeClient) => Promise<unknown>; want: object }>([
    {
      name: "get",
      call: (on) => on.get(configMaps, KEY),
      want: { method: "GET", path: `${PATH}/app` },
    },
    {
      name: "create",
      call: (on) => on.create(configMaps, OBJECT, { fieldManager: "sless" }),
      want: { method: "POST", path: PATH, search: "fieldManager=sless", type: "application/json" },
    },
    {
      name: "replace",
      call: (on) => on.replace(configMaps, OBJECT),
      want: { method: "PUT", path: `${PATH}/app`, body: { ...OBJECT, apiVersion: "v1", kind: "ConfigMap" } },
    },
    {
      name: "merge patch with preconditions",
      call: (on) => on.mergePatch(configMaps, KEY, { data: { a: null } }, { uid: "u", resourceVersion: "7" }),
      want: {
        method: "PATCH",
        path: `${PATH}/app`,
        type: "application/merge-patch+json",
        body: { data: { a: null }, metadata: { uid: "u", resourceVersion: "7" } },
      },
    },
    {
      name: "patch of the status",
      call: (on) => on.patchStatus(deployments, KEY, { replicas: 1 }),
      want: {
        method: "PATCH",
        path: "/apis/apps/v1/namespaces/team/deployments/app/status",
        type: "application/merge-patch+json",
        body: { status: { replicas: 1 } },
      },
    },
    {
      name: "server-side apply",
      call: (on) => on.apply(configMaps, OBJECT, { fieldManager: "sless", force: true }),
      want: { path: `${PATH}/app`, search: "fieldManager=sless&force=true", type: "application/apply-patch+yaml" },
    },
    {
      name: "delete with preconditions",
      call: (on) => on.delete(configMaps, KEY, { uid: "u", propagation: "Foreground" }),
      want: { method: "DELETE", body: { propagationPolicy: "Foreground", preconditions: { uid: "u" } } },
    },
    {
      name: "list with selectors",
      call: (on) => listAll(on, namespaces, { labelSelector: "a=b,c", limit: 3 }).catch(() => undefined),
      want: { method: "GET", path: "/api/v1/namespaces", search: "labelSelector=a%3Db%2Cc&limit=3" },
    },
  ])("sends $name", async ({ call, want }) => {
    await start(echo);
    await call(client);
    const [request] = server.requests;
    const sent = { ...request, search: String(request?.query), type: request?.headers["content-type"] };
    expect(sent).toMatchObject(want);
    expect(request?.headers.authorization).toBe("Bearer secret-token");
  });

  it.each([".", "..", "a/b", "a%2fb", ""])("refuses the name %p, which would change the path", async (name) => {
    await start(echo);
    await expect(client.get(configMaps, { namespace: "team", name })).rejects.toThrow(TypeError);
    await expect(client.get(configMaps, { namespace: name, name: "app" })).rejects.toThrow(TypeError);
    expect(server.requests).toHaveLength(0);
  });
});

describe("answers", () => {
  it("reads pages to the end", async () => {
    await start(({ query }, response) => {
      const second = query.get("continue") === "more";
      const items = [{ metadata: { name: second ? "b" : "a" } }];
      sendJson(response, 200, { metadata: { resourceVersion: "9", ...(!second && { continue: "more" }) }, items });
    });
    const { items, resourceVersion } = await listAll(client, namespaces);
    expect(items).toEqual([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "b" } },
    ]);
    expect(resourceVersion).toBe("9");
  });

  it("types a refusal and names the call", async () => {
    await start((_request, response) => sendStatus(response, 404, "NotFound", 'configmaps "app" not found'));
    const failure = client.get(configMaps, KEY);
    await expect(failure).rejects.toThrow(NotFoundError);
    await expect(failure).rejects.toThrow('get ConfigMap team/app: configmaps "app" not found (404 NotFound)');
  });

  it.each([
    [
      "HTML of a proxy",
      (_request: unknown, response: Parameters<RequestScript>[1]) => void response.writeHead(502).end("<html>"),
      ServerError,
    ],
    [
      "a redirect",
      (_request: unknown, response: Parameters<RequestScript>[1]) => void response.writeHead(302).end(),
      ServerError,
    ],
    [
      "a Status with 200",
      (_request: unknown, response: Parameters<RequestScript>[1]) =>
        sendJson(response, 200, { kind: "Status", metadata: {} }),
      TransportError,
    ],
    [
      "text with 200",
      (_request: unknown, response: Parameters<RequestScript>[1]) => void response.end("hello"),
      TransportError,
    ],
    [
      "a cut answer",
      (_request: unknown, response: Parameters<RequestScript>[1]) => {
        response.writeHead(200, { "content-length": 100 });
        response.write("{", () => response.destroy());
      },
      TransportError,
    ],
  ])("is not fooled by %s", async (_name, script, expected) => {
    await start(script);
    await expect(client.get(configMaps, KEY)).rejects.toThrow(expected);
  });

  it("bounds an error's body", async () => {
    await start((_request, response) => void response.writeHead(500).end(Buffer.alloc(1024 * 1024, "x")));
    await expect(client.get(configMaps, KEY)).rejects.toThrow("larger than");
  });
});

describe("bounds", () => {
  it("gives up on a server that never answers", async () => {
    await start(() => undefined);
    const failure = client.get(configMaps, KEY, { timeoutMs: 50 });
    await expect(failure).rejects.toThrow(TimeoutError);
    await expect(failure).rejects.toThrow("get ConfigMap team/app: no answer from the API server in 50 ms");
  });

  it("gives up on an answer that trickles", async () => {
    await start((_request, response) => {
      const trickle = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(trickle));
    });
    await expect(client.get(configMaps, KEY, { timeoutMs: 100 })).rejects.toThrow(TimeoutError);
  });

  it("throws the caller's reason when aborted, before and during a call", async () => {
    const abort = new AbortController();
    await start(() => abort.abort(new Error("not wanted any more")));
    const during = client.get(configMaps, KEY, { signal: abort.signal });
    await expect(during).rejects.toThrow("not wanted any more");
    await expect(client.get(configMaps, KEY, { signal: abort.signal })).rejects.toThrow("not wanted any more");
    expect(server.requests).toHaveLength(1);
  });

  it("says what is wrong when nobody listens", async () => {
    await start(echo);
    await server.close();
    await expect(client.get(configMaps, KEY)).rejects.toThrow(/connection to the API server failed: .*ECONNREFUSED/);
  });

  it("sends a read again when the server closes the kept-alive socket under it, and never a write", async () => {
    let seen = 0;
    await start((request, response) => {
      seen += 1;
      if (seen % 2 === 0) response.socket?.destroy();
      else echo(request, response);
    });
    await client.get(configMaps, KEY);
    expect(await client.get(configMaps, KEY)).toMatchObject(OBJECT);
    await expect(client.create(configMaps, OBJECT)).rejects.toThrow(TransportError);
    expect(server.requests.map((request) => request.method)).toEqual(["GET", "GET", "GET", "POST"]);
  });
});

describe("podLogs", () => {
  it("streams until aborted", async () => {
    const abort = new AbortController();
    await start((_request, response) => void response.write("first\n"));
    const log = await client.podLogs(KEY, { container: "function", follow: true, tailLines: 5, signal: abort.signal });
    const chunks: string[] = [];
    const reading = (async () => {
      for await (const chunk of log) {
        chunks.push(String(chunk));
        abort.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(chunks).toEqual(["first\n"]);
    expect(server.requests[0]?.path).toBe("/api/v1/namespaces/team/pods/app/log");
    expect(String(server.requests[0]?.query)).toBe("container=function&follow=true&tailLines=5");
  });

  it("types a refusal", async () => {
    await start((_request, response) => sendStatus(response, 409, "Conflict", "container is not running"));
    await expect(client.podLogs(KEY)).rejects.toThrow(ConflictError);
  });
});

describe("watch", () => {
  it("asks for bookmarks and ends when the server ends it", async () => {
    await start((_request, response) => {
      response.write(
        `${JSON.stringify({ type: "ADDED", object: { metadata: { name: "a", resourceVersion: "8" } } })}\n`,
      );
      response.end();
    });
    const seen: unknown[] = [];
    for await (const event of client.watch(pods, { resourceVersion: "7", timeoutSeconds: 9 })) seen.push(event);
    expect(seen).toEqual([{ type: "ADDED", object: { metadata: { name: "a", resourceVersion: "8" } } }]);
    const query = Object.fromEntries(server.requests[0]?.query ?? []);
    expect(query).toEqual({ watch: "true", allowWatchBookmarks: "true", resourceVersion: "7", timeoutSeconds: "9" });
  });

  it("gives up a silent stream, and not one that speaks", async () => {
    await start((_request, response) => {
      let beats = 0;
      const line = `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "8" } } })}\n`;
      const beat = setInterval(() => (++beats <= 5 ? response.write(line) : clearInterval(beat)), 60);
      response.on("close", () => clearInterval(beat));
    });
    let bookmarks = 0;
    const watching = (async () => {
      for await (const event of client.watch(pods, { resourceVersion: "7", idleTimeoutMs: 150 })) {
        if (event.type === "BOOKMARK") bookmarks += 1;
      }
    })();
    await expect(watching).rejects.toThrow("watch Pod: silent for 150 ms");
    expect(bookmarks).toBe(5);
  });
});
