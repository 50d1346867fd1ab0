import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { KubeClient } from "./client.js";
import { createKubeClient } from "./http-client.js";
import { createInformer, type Informer } from "./informer.js";
import { configMaps, type ConfigMap } from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { createMemoryLogger } from "./testing/memory-logger.js";
import {
  sendJson,
  sendStatus,
  startScriptedApiServer,
  type ReceivedRequest,
  type ScriptedApiServer,
} from "./testing/scripted-api-server.js";

const object = (name: string, version: number): ConfigMap => ({
  metadata: { namespace: "n", name, resourceVersion: String(version) },
});

const line = (type: string, body: unknown): string => `${JSON.stringify({ type, object: body })}\n`;

type Script = (response: ServerResponse, request: ReceivedRequest) => void;

const list =
  (version: number, ...names: string[]): Script =>
  (response) =>
    sendJson(response, 200, {
      metadata: { resourceVersion: String(version) },
      items: names.map((name) => object(name, version)),
    });

const watch =
  (...lines: string[]): Script =>
  (response) =>
    void response.writeHead(200).write(lines.join("") || "\n");

let server: ScriptedApiServer;
let client: KubeClient;
let informer: Informer<ConfigMap>;
let stop: AbortController;
let running: Promise<void>;
let heard: string[];
let progress: string[];

/** Answers lists and watches in the order given; the last of each is repeated. */
const mirror = async (scripts: { lists: Script[]; watches: Script[] }, idleTimeoutMs = 5_000): Promise<void> => {
  const next = (from: Script[]): Script | undefined => (from.length > 1 ? from.shift() : from[0]);
  server = await startScriptedApiServer((request, response) => {
    const script = next(request.query.get("watch") ? scripts.watches : scripts.lists);
    script?.(response, request);
  });
  client = await createKubeClient({ server: server.url });
  stop = new AbortController();
  heard = [];
  progress = [];
  informer = createInformer<ConfigMap>({
    client,
    resource: configMaps,
    logger: createMemoryLogger(),
    backoff: { minMs: 5, maxMs: 40 },
    idleTimeoutMs,
  });
  informer.addHandler({
    onAdd: (_value, key) => heard.push(`+${key}`),
    onUpdate: (_value, _old, key) => heard.push(`~${key}`),
    onDelete: (_old, key) => heard.push(`-${key}`),
  });
  informer.onProgress((version) => progress.push(version));
  running = informer.run(stop.signal);
  await informer.synced;
};

const watchesFrom = (): (string | null)[] =>
  server.requests.filter(({ query }) => query.get("watch")).map(({ query }) => query.get("resourceVersion"));

const listCount = (): number => server.requests.filter(({ query }) => !query.get("watch")).length;

afterEach(async () => {
  stop.abort();
  await running;
  client.close();
  await server.close();
});

describe("a watch", () => {
  it("follows adds, updates and deletes, and reports progress by events and bookmarks", async () => {
    await mirror({
      lists: [list(1, "a")],
      watches: [
        watch(
          line("ADDED", object("b", 2)),
          line("MODIFIED", object("a", 3)),
          line("DELETED", object("b", 4)),
          line("BOOKMARK", object("", 9)),
        ),
      ],
    });
    await eventually("the bookmark is seen", () => informer.lastResourceVersion === "9");
    expect(heard).toEqual(["+n/a", "+n/b", "~n/a", "-n/b"]);
    expect(progress).toEqual(["1", "2", "3", "4", "9"]);
  });

  it.each<[string, Script]>([
    [
      "reset",
      (response) => void response.writeHead(200).write(line("ADDED", object("b", 2)), () => response.destroy()),
    ],
    ["end", (response) => void response.writeHead(200).end(line("ADDED", object("b", 2)))],
    [
      "cut in the middle of a line",
      (response) =>
        void response.writeHead(200).end(line("ADDED", object("b", 2)) + line("ADDED", object("c", 3)).slice(0, 20)),
    ],
    ["broken line", (response) => void response.writeHead(200).write(`${line("ADDED", object("b", 2))}{"type":\n`)],
  ])("after a %s resumes from the last resource version, without a new list", async (_name, broken) => {
    await mirror({ lists: [list(1, "a")], watches: [broken, watch(line("MODIFIED", object("b", 5)))] });
    await eventually("the second watch delivers", () => informer.lastResourceVersion === "5");
    expect(watchesFrom()).toEqual(["1", "2"]);
    expect(listCount()).toBe(1);
    expect(heard).toEqual(["+n/a", "+n/b", "~n/b"]);
  });

  it("that stalls silently is given up and resumed", async () => {
    await mirror({ lists: [list(1)], watches: [watch(), watch(line("ADDED", object("a", 2)))] }, 80);
    await eventually("the second watch delivers", () => heard.length > 0);
    expect(watchesFrom().slice(0, 2)).toEqual(["1", "1"]);
  });

  it("that always ends at once is not opened in a hot loop", async () => {
    await mirror({ lists: [list(1)], watches: [(response) => void response.writeHead(200).end()] });
    await eventually("several watches came", () => watchesFrom().length >= 6);
    const start = performance.now();
    const before = watchesFrom().length;
    await eventually("five more came", () => watchesFrom().length >= before + 5);
    expect(performance.now() - start).toBeGreaterThan(5 * 20 - 10);
  });

  it("survives 500, 429 and refused connections", async () => {
    await mirror({
      lists: [list(1, "a")],
      watches: [
        (response) => sendStatus(response, 500, "InternalError"),
        (response) => sendStatus(response, 429, "TooManyRequests"),
        (response) => response.destroy(),
        watch(line("ADDED", object("b", 2))),
      ],
    });
    await eventually("the last watch delivers", () => heard.includes("+n/b"));
    expect(listCount()).toBe(1);
  });

  it("ends at once when aborted", async () => {
    await mirror({ lists: [list(1)], watches: [watch()] });
    await eventually("the watch is open", () => watchesFrom().length === 1);
    stop.abort();
    await running;
  });
});

describe("D24: a resource version that is too old", () => {
  const expired = { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired", message: "too old", metadata: {} };

  it.each<[string, Script]>([
    ["as HTTP status", (response) => sendStatus(response, 410, "Expired", "too old")],
    ["as ERROR event in a 200 stream", watch(line("ERROR", expired))],
    ["as a Status under another event type", watch(line("MODIFIED", expired))],
  ])("%s leads to a fresh full list; what is gone meanwhile is deleted", async (_name, gone) => {
    await mirror({ lists: [list(1, "a", "b"), list(7, "b", "c")], watches: [gone, watch()] });
    await eventually("the second list is in", () => informer.lastResourceVersion === "7");
    expect(heard).toEqual(["+n/a", "+n/b", "-n/a", "~n/b", "+n/c"]);
    expect(informer.list().map((kept) => kept.metadata.name)).toEqual(["b", "c"]);
    await eventually("the watch starts from the new list", () => watchesFrom().includes("7"));
    const lists = server.requests.filter(({ query }) => !query.get("watch"));
    expect(lists.map(({ query }) => query.get("resourceVersion"))).toEqual([null, null]);
  });

  it("on page 2 of a list starts the list anew", async () => {
    const page1: Script = (response) =>
      sendJson(response, 200, { metadata: { resourceVersion: "1", continue: "token" }, items: [object("old", 1)] });
    const page2: Script = (response) => sendStatus(response, 410, "Expired", "continue token too old");
    await mirror({ lists: [page1, page2, list(5, "new")], watches: [watch()] });
    expect(heard).toEqual(["+n/new"]);
    const continues = server.requests.slice(0, 3).map(({ query }) => query.get("continue"));
    expect(continues).toEqual([null, "token", null]);
  });

  it("again and again is met with growing waits", async () => {
    await mirror({ lists: [list(1)], watches: [watch(line("ERROR", expired))] });
    await eventually("the waits have grown to the bound", () => listCount() >= 6);
    const [start, before] = [performance.now(), listCount()];
    await eventually("five more lists", () => listCount() >= before + 5);
    expect(performance.now() - start).toBeGreaterThan(5 * 20 - 10);
    expect(informer.size).toBe(0);
  });
});

describe("the first list", () => {
  it("is tried until it succeeds", async () => {
    await mirror({
      lists: [(response) => sendStatus(response, 403, "Forbidden"), (response) => response.destroy(), list(3, "a")],
      watches: [watch()],
    });
    expect(heard).toEqual(["+n/a"]);
  });

  it("is asked for in pages", async () => {
    const page1: Script = (response) =>
      sendJson(response, 200, { metadata: { resourceVersion: "4", continue: "t" }, items: [object("a", 1)] });
    await mirror({ lists: [page1, list(4, "b")], watches: [watch()] });
    expect(informer.size).toBe(2);
    expect(server.requests[0]?.query.get("limit")).toBe("500");
  });
});
