import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createApplier, type Applier } from "./applier.js";
import type { KubeClient, MergePatch } from "./client.js";
import { AlreadyExistsError, ConflictError, NotFoundError, NotOwnedError } from "./errors.js";
import { createEventRecorder } from "./event-recorder.js";
import { createKubeClient } from "./http-client.js";
import { createInformer } from "./informer.js";
import { createLeaseStore, microTime } from "./lease.js";
import type { KubeObject, Resource } from "./object.js";
import {
  configMaps,
  deployments,
  events,
  leases,
  namespaces,
  pods,
  type ConfigMap,
  type Deployment,
} from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { startFakeApiServer } from "./testing/fake-api-server.js";
import { createFakeKubeClient } from "./testing/fake-client.js";
import { createMemoryLogger } from "./testing/memory-logger.js";

/**
 * What this package relies on in an API server. It runs against the in-memory fake, the same over HTTP, and, where
 * KUBECONFIG is set, a real one: a fake that answers otherwise would let broken reconcilers pass.
 */
interface Target {
  name: string;
  /** Knows schemas, defaults and old resource versions. */
  real: boolean;
  start: () => Promise<{ client: KubeClient; stop: () => Promise<void> }>;
}

const served: Resource[] = [configMaps, deployments, events, leases, namespaces, pods];
const kubeconfigPath = process.env["KUBECONFIG"];

const targets: Target[] = [
  {
    name: "the in-memory fake",
    real: false,
    start: () => Promise.resolve({ client: createFakeKubeClient(), stop: () => Promise.resolve() }),
  },
  {
    name: "the fake over HTTP",
    real: false,
    start: async () => {
      const server = await startFakeApiServer(createFakeKubeClient(), served);
      return { client: await createKubeClient({ server: server.url }), stop: server.close };
    },
  },
  ...(kubeconfigPath
    ? [
        {
          name: "the API server of KUBECONFIG",
          real: true,
          start: async () => ({ client: await createKubeClient({ kubeconfigPath }), stop: () => Promise.resolve() }),
        },
      ]
    : []),
];

const OWNER_LABEL = "sless.kube5s.ru/function-uid";

describe.each(targets)("on $name", ({ real, start }) => {
  const namespace = `kube-test-${randomBytes(4).toString("hex")}`;
  const logger = createMemoryLogger();
  let client: KubeClient;
  let stop: () => Promise<void>;
  let applier: Applier;
  let count = 0;
  let name: string;

  beforeAll(async () => {
    ({ client, stop } = await start());
    await client.create(namespaces, { metadata: { name: namespace } });
  });

  afterAll(async () => {
    await client.delete(namespaces, { name: namespace });
    client.close();
    await stop();
  });

  beforeEach(() => {
    count += 1;
    name = `object-${count}`;
    applier = createApplier({ client, fieldManager: "sless" });
  });

  const config = (data: Record<string, string>, metadata: object = {}): ConfigMap => ({
    metadata: { namespace, name, ...metadata },
    data,
  });

  const key = () => ({ namespace, name });
  const live = (): Promise<ConfigMap> => client.get(configMaps, key());

  describe("writes", () => {
    it("a create of what is there is refused as such", async () => {
      await client.create(configMaps, config({}));
      await expect(client.create(configMaps, config({}))).rejects.toThrow(AlreadyExistsError);
    });

    it("a replace with an old resource version is a conflict", async () => {
      const first = await client.create(configMaps, config({ a: "1" }));
      await client.replace(configMaps, { ...first, data: { a: "2" } });
      await expect(client.replace(configMaps, { ...first, data: { a: "3" } })).rejects.toThrow(ConflictError);
      expect((await live()).data).toEqual({ a: "2" });
    });

    it("a merge patch honours both preconditions", async () => {
      const { metadata } = await client.create(configMaps, config({ a: "1", b: "1" }));
      const { uid, resourceVersion } = metadata;
      await client.mergePatch(configMaps, key(), { data: { a: null } }, { uid, resourceVersion });
      const stale = client.mergePatch(configMaps, key(), { data: { b: "2" } }, { resourceVersion });
      await expect(stale).rejects.toThrow(ConflictError);
      const other = client.mergePatch(configMaps, key(), { data: { b: "2" } }, { uid: "another" });
      await expect(other).rejects.toThrow(ConflictError);
      expect((await live()).data).toEqual({ b: "1" });
    });

    it("a delete with another uid is a conflict, of what is not there a NotFoundError", async () => {
      await client.create(configMaps, config({}));
      await expect(client.delete(configMaps, key(), { uid: "another" })).rejects.toThrow(ConflictError);
      await client.delete(configMaps, key());
      await expect(client.delete(configMaps, key())).rejects.toThrow(NotFoundError);
    });

    it("finalizers hold a deleted object until they are gone", async () => {
      await client.create(configMaps, config({}, { finalizers: ["sless.kube5s.ru/test"] }));
      await client.delete(configMaps, key());
      expect((await live()).metadata.deletionTimestamp).toBeTruthy();
      await client.mergePatch(configMaps, key(), { metadata: { finalizers: null } });
      await expect(live()).rejects.toThrow(NotFoundError);
    });
  });

  describe("server-side apply", () => {
    const options = { fieldManager: "sless", force: true };

    it("the same again moves no resource version", async () => {
      const first = await client.apply(configMaps, config({ a: "1" }), options);
      const second = await client.apply(configMaps, config({ a: "1" }), options);
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });

    it("removes what is not wished any more and leaves what others set", async () => {
      await client.apply(configMaps, config({ a: "1", b: "1" }), options);
      await client.mergePatch(configMaps, key(), { data: { foreign: "1" } });
      await client.apply(configMaps, config({ a: "2" }), options);
      expect((await live()).data).toEqual({ a: "2", foreign: "1" });
    });

    it("without force refuses to take another's field", async () => {
      await client.create(configMaps, config({ a: "theirs" }), { fieldManager: "someone" });
      const refused = client.apply(configMaps, config({ a: "ours" }), { fieldManager: "sless" });
      await expect(refused).rejects.toThrow(ConflictError);
    });

    it("with an old resource version, another uid, or a uid of what is gone is a conflict", async () => {
      const first = await client.apply(configMaps, config({ a: "1" }), options);
      await client.apply(configMaps, config({ a: "2" }), options);
      const { uid, resourceVersion } = first.metadata;
      const attempt = (metadata: object) => client.apply(configMaps, config({ a: "3" }, metadata), options);
      await expect(attempt({ uid, resourceVersion })).rejects.toThrow(ConflictError);
      await expect(attempt({ uid: "another" })).rejects.toThrow(ConflictError);
      await client.delete(configMaps, key());
      await expect(attempt({ uid })).rejects.toThrow(ConflictError);
      await expect(live()).rejects.toThrow(NotFoundError);
    });
  });

  describe("D26: apply of what is already so", () => {
    const labels = { [OWNER_LABEL]: "uid-a" };
    const container = {
      name: "function",
      image: "example.invalid/x@sha256:0",
      resources: { requests: { cpu: "1000m", memory: "1024Mi" } },
      env: [
        { name: "B", value: "1" },
        { name: "A", value: "2" },
      ],
    };
    const wish = (replicas = 0): Deployment => ({
      metadata: { namespace, name, labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    });
    /** The live object once its controllers have left it alone. */
    const settled = async (): Promise<Deployment> => {
      let seen = "";
      await eventually("the Deployment rests", async () => {
        const { metadata } = await client.get(deployments, key());
        const rests = metadata.resourceVersion === seen;
        seen = metadata.resourceVersion ?? "";
        if (!rests) await new Promise((resolve) => setTimeout(resolve, real ? 300 : 0));
        return rests;
      });
      return client.get(deployments, key());
    };

    it("is no write, whatever the server defaulted or rewrote", async () => {
      expect((await applier.apply(deployments, wish())).outcome).toBe("created");
      const before = await settled();
      for (let round = 0; round < 3; round += 1) {
        expect((await applier.apply(deployments, wish(), { live: before })).outcome).toBe("unchanged");
      }
      expect((await settled()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    it("changes nothing either when a new process has to learn it", async () => {
      await applier.apply(deployments, wish());
      const before = await settled();
      const successor = createApplier({ client, fieldManager: "sless" });
      expect((await successor.apply(deployments, wish(), { live: before })).outcome).toBe("unchanged");
      expect((await settled()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    it("leaves foreign annotations alone, without a write", async () => {
      await applier.apply(deployments, wish());
      await settled();
      await client.mergePatch(deployments, key(), { metadata: { annotations: { foreign: "x" } } });
      const edited = await settled();
      expect((await applier.apply(deployments, wish(), { live: edited })).outcome).toBe("unchanged");
      expect((await settled()).metadata.annotations).toMatchObject({ foreign: "x" });
    });

    it.each<[string, MergePatch]>([
      ["replicas", { spec: { replicas: 3 } }],
      ["a label", { metadata: { labels: { [OWNER_LABEL]: null } } }],
      [
        "the image",
        { spec: { template: { spec: { containers: [{ ...container, image: "example.invalid/evil" }] } } } },
      ],
      ["a variable", { spec: { template: { spec: { containers: [{ ...container, env: [] }] } } } }],
    ])("heals a foreign edit of %s", async (_what, patch) => {
      await applier.apply(deployments, wish());
      await settled();
      await client.mergePatch(deployments, key(), patch, { fieldManager: "someone" });
      const edited = await settled();
      expect((await applier.apply(deployments, wish(), { live: edited })).outcome).toBe("updated");
      const { metadata, spec } = await settled();
      expect(spec?.replicas).toBe(0);
      expect(metadata.labels).toMatchObject(labels);
      expect(spec?.template.spec?.containers[0]).toMatchObject({ image: container.image, env: container.env });
    });

    it("writes a new wish, also one that only drops a field", async () => {
      await applier.apply(configMaps, config({ a: "1", b: "1" }));
      const { outcome } = await applier.apply(configMaps, config({ a: "1" }));
      expect(outcome).toBe("updated");
      expect((await live()).data).toEqual({ a: "1" });
    });

    it("makes anew what was deleted and made again by someone else", async () => {
      await applier.apply(configMaps, config({ a: "1" }));
      await client.delete(configMaps, key());
      expect((await applier.apply(configMaps, config({ a: "1" }))).outcome).toBe("created");
    });

    it("fails with what a stale leader has seen, and changes nothing", async () => {
      await applier.apply(configMaps, config({ a: "1" }));
      const stale = await live();
      await applier.apply(configMaps, config({ a: "2" }), { live: stale });
      const late = createApplier({ client, fieldManager: "sless" });
      await expect(late.apply(configMaps, config({ a: "1" }), { live: stale })).rejects.toThrow(ConflictError);
      expect((await live()).data).toEqual({ a: "2" });
    });
  });

  describe("security 6: an object of another owner", () => {
    const owner = { labelKey: OWNER_LABEL, uid: "uid-a" };
    const wish = () => config({ a: "ours" }, { labels: { [OWNER_LABEL]: "uid-a" } });
    const planted: [string, Record<string, string>][] = [
      ["labelled as another's", { [OWNER_LABEL]: "uid-b" }],
      ["without a label", {}],
      ["with an empty label", { [OWNER_LABEL]: "" }],
    ];

    it.each(planted)("%s is neither adopted nor deleted", async (_what, labels) => {
      const before = await client.create(configMaps, config({ a: "theirs" }, { labels }));
      await expect(applier.apply(configMaps, wish(), { owner })).rejects.toThrow(NotOwnedError);
      await expect(applier.deleteOwned(configMaps, key(), { owner })).rejects.toThrow(NotOwnedError);
      expect((await live()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    it("planted between our look and our write is met as a conflict", async () => {
      const racing = createApplier({
        fieldManager: "sless",
        client: {
          ...client,
          get: async (resource: Resource, at) => {
            await client.create(configMaps, config({ a: "theirs" }, { labels: { [OWNER_LABEL]: "uid-b" } }));
            throw new NotFoundError("get", {
              code: 404,
              reason: "NotFound",
              message: `${resource.kind} ${at.name}`,
              causes: [],
            });
          },
        },
      });
      await expect(racing.apply(configMaps, wish(), { owner })).rejects.toThrow(ConflictError);
      expect((await live()).data).toEqual({ a: "theirs" });
    });

    it("put in our object's place meanwhile is not deleted", async () => {
      await applier.apply(configMaps, wish(), { owner });
      const ours = await live();
      await client.delete(configMaps, key());
      await client.create(configMaps, config({ a: "theirs" }, { labels: { [OWNER_LABEL]: "uid-b" } }));
      const removal = applier.deleteOwned(configMaps, key(), { owner, live: ours });
      await expect(removal).rejects.toThrow(ConflictError);
      expect((await live()).data).toEqual({ a: "theirs" });
    });

    it("does not keep us from our own", async () => {
      expect((await applier.apply(configMaps, wish(), { owner })).outcome).toBe("created");
      expect((await applier.apply(configMaps, wish(), { owner })).outcome).toBe("unchanged");
      expect(await applier.deleteOwned(configMaps, key(), { owner })).toBe(true);
      expect(await applier.deleteOwned(configMaps, key(), { owner })).toBe(false);
    });

    it("cannot be wished without its owner's label", async () => {
      await expect(applier.apply(configMaps, config({}), { owner })).rejects.toThrow("lacks its owner's label");
    });
  });

  describe("leases, events, informers", () => {
    it("a Lease keeps its six digits, and of two writers on one record one loses", async () => {
      const store = createLeaseStore(client, { namespace, name });
      let renewals = 0;
      const write = (holder: string, resourceVersion: string | undefined) =>
        store.write({
          holder,
          durationMs: 15_000,
          transitions: 0,
          acquireTime: microTime(0),
          renewTime: microTime(1_700_000_000_123 + renewals++),
          resourceVersion,
          timeoutMs: 5_000,
        });
      expect(await store.read(5_000)).toBeUndefined();
      const [first, second] = await Promise.all([write("a", undefined), write("b", undefined)]);
      expect([first, second].filter(Boolean)).toHaveLength(1);
      const record = await store.read(5_000);
      const [third, fourth] = [await write("a", record?.resourceVersion), await write("b", record?.resourceVersion)];
      expect([third?.holder, fourth]).toEqual(["a", undefined]);
      const lease = await client.get(leases, key());
      expect(lease.spec?.renewTime).toBe("2023-11-14T22:13:20.125000Z");
    });

    it("an Event says what happened to what, and counts repeats", async () => {
      const about = await client.create(configMaps, config({}));
      const recorder = createEventRecorder({ client, component: "sless-test", logger });
      const event = { type: "Warning" as const, reason: "Broken", message: "because" };
      for (let round = 0; round < 3; round += 1) {
        recorder.record(about, event);
        await recorder.flush();
      }
      const { items } = await client.list(events, { namespace });
      const ours = items.filter((item) => item.involvedObject.uid === about.metadata.uid);
      expect(ours).toHaveLength(1);
      expect(ours[0]).toMatchObject({ ...event, count: 3, source: { component: "sless-test" } });
    });

    it("an informer follows from list through watch", async () => {
      const abort = new AbortController();
      const label = { test: name };
      const informer = createInformer<KubeObject>({
        client,
        resource: configMaps,
        namespace,
        labelSelector: `test=${name}`,
        logger,
        pageSize: 2,
      });
      const make = (suffix: number) =>
        client.create(configMaps, { metadata: { namespace, name: `${name}-${suffix}`, labels: label } });
      for (const suffix of [1, 2, 3]) await make(suffix);
      const running = informer.run(abort.signal);
      await informer.synced;
      expect(informer.size).toBe(3);
      await make(4);
      await client.delete(configMaps, { namespace, name: `${name}-1` });
      await eventually("both changes arrived", () => informer.size === 3 && !informer.get(`${namespace}/${name}-1`));
      abort.abort();
      await running;
    });
  });
});
