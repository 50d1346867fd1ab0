import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { KubeObject, WatchEvent } from "../store/types.js";
import { openClusterStore } from "./open-cluster-store.js";
import { RESOURCES } from "./resource-table.js";
import type { ServedStore } from "./served-store.js";

const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
});

const edit = (object: KubeObject, change: (draft: KubeObject) => void): KubeObject => {
  const draft = structuredClone(object);
  change(draft);
  return draft;
};

describe("the store, used in-process", () => {
  let store: ServedStore;
  let now: number;

  beforeEach(() => {
    now = Date.parse("2025-01-02T03:04:05Z");
    store = openClusterStore({ clock: () => now });
  });
  afterEach(() => store.close());

  it("defaults and validates as over HTTP", () => {
    const created = store.create(RESOURCES.pods, pod("a"));
    expect(created).toMatchObject({
      metadata: { creationTimestamp: "2025-01-02T03:04:05Z", generation: 1 },
      spec: { restartPolicy: "Always", terminationGracePeriodSeconds: 30 },
      status: { phase: "Pending" },
    });
    expect(() => store.create(RESOURCES.pods, pod("b", { containers: [] }))).toThrow(
      'Pod "b" is invalid: spec.containers: Required value',
    );
  });

  it("waits with a pod that a node has taken until the kubelet finishes it", () => {
    store.create(RESOURCES.pods, pod("a", { nodeName: "n" }));
    expect(store.delete(RESOURCES.pods, "default", "a").metadata).toMatchObject({
      deletionTimestamp: "2025-01-02T03:04:35Z",
      deletionGracePeriodSeconds: 30,
    });
    expect(store.get(RESOURCES.pods, "default", "a")).toBeDefined();
    store.delete(RESOURCES.pods, "default", "a", { gracePeriodSeconds: 5 });
    expect(store.get(RESOURCES.pods, "default", "a")?.metadata.deletionGracePeriodSeconds).toBe(5);
    store.delete(RESOURCES.pods, "default", "a", { gracePeriodSeconds: 0 });
    expect(store.get(RESOURCES.pods, "default", "a")).toBeUndefined();
  });

  it("writes nothing when nothing changes", () => {
    const created = store.create(RESOURCES.pods, pod("a"));
    const version = store.resourceVersion();
    expect(store.update(RESOURCES.pods, created)).toBe(created);
    store.update(RESOURCES.pods, created, { subresource: "status" });
    expect(store.resourceVersion()).toBe(version);
  });

  it("lets a status write change the status alone", () => {
    const created = store.create(RESOURCES.pods, pod("a"));
    const updated = store.update(
      RESOURCES.pods,
      edit(created, (draft) => {
        draft["status"] = { phase: "Running" };
        draft["spec"] = {};
        draft.metadata.labels = { a: "b" };
      }),
      { subresource: "status" },
    );
    expect(updated["spec"]).toEqual(created["spec"]);
    expect(updated.metadata.labels).toBeUndefined();
    expect(updated["status"]).toEqual({ phase: "Running" });
  });

  it("refuses a write on a version that is no longer the newest", () => {
    const created = store.create(RESOURCES.pods, pod("a"));
    const label = (value: string) => edit(created, (draft) => (draft.metadata.labels = { value }));
    store.update(RESOURCES.pods, label("1"));
    expect(() => store.update(RESOURCES.pods, label("2"))).toThrow(expect.objectContaining({ code: 409 }));
  });

  it("delivers what is there and what comes, once each and in order", async () => {
    store.create(RESOURCES.pods, pod("a"));
    const events: string[] = [];
    const listener = ({ type, object }: WatchEvent) => events.push(`${type} ${object.metadata.name}`);
    store.create(RESOURCES.pods, pod("b"));
    const stop = store.watch(RESOURCES.pods, {}, listener);
    store.create(RESOURCES.pods, pod("c"));
    store.delete(RESOURCES.pods, "default", "a");
    await new Promise((resolve) => setImmediate(resolve));
    stop();
    store.create(RESOURCES.pods, pod("d"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(["ADDED a", "ADDED b", "ADDED c", "DELETED a"]);
  });

  it("names the in-process writer among the managers", () => {
    const created = store.create(RESOURCES.pods, pod("a"), { fieldManager: "kubelet" });
    expect(created.metadata.managedFields).toMatchObject([{ manager: "kubelet", operation: "Update" }]);
  });

  it("serves custom resources from the moment they are declared until they are withdrawn", () => {
    const ref = { group: "x.test", plural: "things" };
    expect(() => store.list(ref)).toThrow(expect.objectContaining({ code: 404 }));
    store.create(RESOURCES.customResourceDefinitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.x.test" },
      spec: {
        group: "x.test",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    expect(store.list(ref).items).toEqual([]);
  });
});
