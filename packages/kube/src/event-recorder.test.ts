import { beforeEach, describe, expect, it } from "@jest/globals";
import type { Clock } from "./clock.js";
import { createEventRecorder, type EventInput, type EventRecorder } from "./event-recorder.js";
import { events, type KubeEvent } from "./resources.js";
import { createFakeKubeClient, type FakeKubeClient } from "./testing/fake-client.js";
import { createMemoryLogger } from "./testing/memory-logger.js";

const about = (name: string, namespace: string | undefined = "n") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...(namespace && { namespace }), name, uid: `uid-of-${name}` },
});

const failed: EventInput = { type: "Warning", reason: "BuildFailed", message: "exit code 1" };

let client: FakeKubeClient;
let recorder: EventRecorder;
let now: number;
let logger: ReturnType<typeof createMemoryLogger>;

beforeEach(() => {
  client = createFakeKubeClient();
  logger = createMemoryLogger();
  now = Date.parse("2026-01-01T00:00:00.500Z");
  const clock: Clock = { now: () => now, monotonic: () => now };
  recorder = createEventRecorder({ client, component: "sless-controller", clock, logger, burst: 5, refillMs: 1000 });
});

const written = async (): Promise<KubeEvent[]> => {
  await recorder.flush();
  return client.objects(events);
};

describe("an event recorder", () => {
  it("writes what kubectl describe shows", async () => {
    recorder.record(about("a"), failed);
    const [event] = await written();
    expect(event).toMatchObject({
      ...failed,
      involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "n", name: "a", uid: "uid-of-a" },
      count: 1,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      source: { component: "sless-controller" },
    });
    expect(event?.metadata.name).toMatch(/^a\.[0-9a-f]{16}$/);
  });

  it("counts repeats in one Event, and keeps apart what differs", async () => {
    recorder.record(about("a"), failed);
    await recorder.flush();
    now += 3000;
    recorder.record(about("a"), failed);
    recorder.record(about("a"), failed);
    recorder.record(about("b"), failed);
    recorder.record(about("a"), { ...failed, message: "exit code 2" });
    const all = await written();
    expect(all.map(({ involvedObject, message, count }) => [involvedObject.name, message, count])).toEqual([
      ["a", "exit code 1", 3],
      ["b", "exit code 1", 1],
      ["a", "exit code 2", 1],
    ]);
    expect(all[0]?.lastTimestamp).toBe("2026-01-01T00:00:03Z");
    expect(client.writes.filter(({ verb }) => verb === "mergePatch")).toHaveLength(1);
  });

  it("begins anew when the counted Event is gone", async () => {
    recorder.record(about("a"), failed);
    const [first] = await written();
    await client.delete(events, { namespace: "n", name: first?.metadata.name ?? "" });
    recorder.record(about("a"), failed);
    expect((await written()).map(({ count }) => count)).toEqual([1]);
  });

  it("bounds how often one object is heard, and no other for it", async () => {
    for (let round = 0; round < 50; round += 1) recorder.record(about("a"), { ...failed, message: String(round) });
    recorder.record(about("b"), failed);
    expect(await written()).toHaveLength(6);
    now += 2000;
    for (let round = 0; round < 50; round += 1) recorder.record(about("a"), { ...failed, message: `later ${round}` });
    expect(await written()).toHaveLength(8);
  });

  it("bounds the message without cutting a character in half", async () => {
    recorder.record(about("a"), { ...failed, message: "😀".repeat(600) });
    const [event] = await written();
    expect(event?.message?.length).toBeLessThanOrEqual(1024);
    expect(event?.message?.endsWith("😀…")).toBe(true);
  });

  it("puts events of cluster-scoped objects into namespace default", async () => {
    const { namespace: _namespace, ...metadata } = about("a").metadata;
    recorder.record({ kind: "Tenant", apiVersion: "sless.kube5s.ru/v1alpha1", metadata }, failed);
    expect((await written())[0]?.metadata.namespace).toBe("default");
  });

  it("logs what it cannot write, and goes on", async () => {
    const end = client.failOn("create", "Event");
    recorder.record(about("a"), failed);
    await recorder.flush();
    end();
    recorder.record(about("b"), failed);
    expect(await written()).toHaveLength(1);
    expect(logger.lines).toMatchObject([{ level: "warn", message: "event could not be written" }]);
  });
});
