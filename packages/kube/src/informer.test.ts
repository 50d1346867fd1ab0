import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createInformer, type Informer, type InformerOptions } from "./informer.js";
import { configMaps, type ConfigMap } from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { createFakeKubeClient, type FakeKubeClient } from "./testing/fake-client.js";
import { createMemoryLogger } from "./testing/memory-logger.js";

const config = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): ConfigMap => ({
  metadata: { namespace: "n", name, labels },
  data,
});

let client: FakeKubeClient;
let stop: AbortController;
const logger = createMemoryLogger();

beforeEach(() => {
  client = createFakeKubeClient();
  stop = new AbortController();
});
afterEach(() => stop.abort());

const run = async <V = ConfigMap>(options: Partial<InformerOptions<ConfigMap, V>> = {}): Promise<Informer<V>> => {
  const informer = createInformer<ConfigMap, V>({ client, resource: configMaps, logger, ...options });
  void informer.run(stop.signal);
  await informer.synced;
  return informer;
};

describe("an informer's cache", () => {
  it("hands out deep-frozen values", async () => {
    client.seed(configMaps, config("a", { x: "1" }));
    const informer = await run();
    const cached = informer.get("n/a");
    expect(() => Object.assign(cached?.data ?? {}, { x: "2" })).toThrow(TypeError);
    expect(() => Object.assign(cached?.metadata.labels ?? {}, { y: "2" })).toThrow(TypeError);
  });

  it("keeps only what is selected, and tells nobody of changes in the rest", async () => {
    client.seed(configMaps, config("a", { keep: "1", drop: "1" }));
    const informer = await run({ select: (object) => ({ kept: object.data?.["keep"] ?? "" }) });
    const heard: string[] = [];
    informer.addHandler({ onUpdate: (value, old) => heard.push(`${old.kept}→${value.kept}`) });
    await client.mergePatch(configMaps, { namespace: "n", name: "a" }, { data: { drop: "2" } });
    await client.mergePatch(configMaps, { namespace: "n", name: "a" }, { data: { keep: "2" } });
    await eventually("the update arrives", () => heard.length > 0);
    expect(heard).toEqual(["1→2"]);
    expect(informer.list()).toEqual([{ kept: "2" }]);
  });

  it("never keeps managedFields", async () => {
    const managed = { ...config("a"), metadata: { ...config("a").metadata, managedFields: [{ manager: "x" }] } };
    client.seed(configMaps, managed);
    const informer = await run();
    expect(informer.get("n/a")?.metadata).not.toHaveProperty("managedFields");
  });

  it("files values under their index terms, and moves them with their changes", async () => {
    client.seed(configMaps, config("a", {}, { team: "red" }));
    client.seed(configMaps, config("b", {}, { team: "blue" }));
    const informer = await run({ indexes: { team: (value) => [value.metadata.labels?.["team"] ?? ""] } });
    const names = (team: string): unknown[] => informer.byIndex("team", team).map(({ metadata }) => metadata.name);
    expect([names("red"), names("blue"), names("none")]).toEqual([["a"], ["b"], []]);
    await client.mergePatch(configMaps, { namespace: "n", name: "a" }, { metadata: { labels: { team: "blue" } } });
    await eventually("the change arrives", () => names("blue").length === 2);
    await client.delete(configMaps, { namespace: "n", name: "b" });
    await eventually("the delete arrives", () => names("blue").length === 1);
    expect(names("red")).toEqual([]);
    expect(() => informer.byIndex("unknown", "x")).toThrow('the cache has no index "unknown"');
  });

  it("is filtered on the server; what leaves the selection leaves the cache", async () => {
    client.seed(configMaps, config("a", {}, { team: "red" }));
    client.seed(configMaps, config("b", {}, { team: "blue" }));
    const informer = await run({ labelSelector: "team=red" });
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
    await client.mergePatch(configMaps, { namespace: "n", name: "a" }, { metadata: { labels: { team: "blue" } } });
    await eventually("it is gone", () => informer.size === 0);
  });
});

describe("an informer's handlers", () => {
  it("that come late hear first of what is there", async () => {
    client.seed(configMaps, config("a"));
    const informer = await run();
    const heard: string[] = [];
    const remove = informer.addHandler({ onAdd: (_value, key) => heard.push(key) });
    expect(heard).toEqual(["n/a"]);
    remove();
    await client.create(configMaps, config("b"));
    await eventually("b is cached", () => informer.size === 2);
    expect(heard).toEqual(["n/a"]);
  });

  it("that throw are logged and harm no other", async () => {
    const informer = await run();
    const heard: string[] = [];
    const broken = (): void => {
      throw new Error("broken handler");
    };
    informer.addHandler({ onAdd: broken });
    informer.addHandler({ onAdd: (_value, key) => heard.push(key) });
    informer.onProgress(broken);
    await client.create(configMaps, config("a"));
    await client.create(configMaps, config("b"));
    await eventually("both are heard", () => heard.length === 2);
    expect(logger.lines.filter(({ message }) => message === "informer handler failed").length).toBeGreaterThan(1);
  });

  it("hear of a change before its progress is told", async () => {
    const informer = await run();
    const order: string[] = [];
    informer.addHandler({ onAdd: (value) => order.push(`add ${value.metadata.resourceVersion}`) });
    informer.onProgress((version) => order.push(`progress ${version}`));
    const { metadata } = await client.create(configMaps, config("a"));
    client.bookmark(configMaps);
    await eventually("the bookmark is told", () => order.length === 3);
    const version = Number(metadata.resourceVersion);
    expect(order).toEqual([`add ${version}`, `progress ${version}`, `progress ${version + 1}`]);
  });
});
