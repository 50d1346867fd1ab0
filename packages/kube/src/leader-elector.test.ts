import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { Clock } from "./clock.js";
import { NotLeadingError } from "./errors.js";
import { createGuardedClient } from "./guarded-client.js";
import { createLeaderElector, LeadershipLostError, type LeaderElector } from "./leader-elector.js";
import { configMaps, leases, type Lease } from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { createFakeKubeClient, type FakeKubeClient } from "./testing/fake-client.js";
import { createMemoryLogger } from "./testing/memory-logger.js";

const KEY = { namespace: "sless", name: "controller" };

/** Time moves only when told, on one clock or on both. */
const createManualClock = () => {
  let wall = Date.parse("2026-01-01T00:00:00Z");
  let monotonic = 1000;
  const clock: Clock = { now: () => wall, monotonic: () => monotonic };
  return {
    clock,
    advance: (ms: number): void => {
      wall += ms;
      monotonic += ms;
    },
    setWall: (ms: number): void => {
      wall += ms;
    },
  };
};

let client: FakeKubeClient;
let time: ReturnType<typeof createManualClock>;
let running: Promise<void>[];
let stops: AbortController[];

beforeEach(() => {
  client = createFakeKubeClient();
  time = createManualClock();
  running = [];
  stops = [];
});

afterEach(async () => {
  for (const stop of stops) stop.abort();
  await Promise.allSettled(running);
});

interface Contender {
  elector: LeaderElector;
  stop: AbortController;
  ended: Promise<void>;
  /** The signal that leading got; undefined before. */
  leadSignal: () => AbortSignal | undefined;
}

const contend = (identity: string, clock: Clock = time.clock): Contender => {
  const elector = createLeaderElector({
    client,
    ...KEY,
    identity,
    clock,
    retryPeriodMs: 5,
    logger: createMemoryLogger(),
  });
  const stop = new AbortController();
  let leadSignal: AbortSignal | undefined;
  const ended = elector.run(stop.signal, async (signal) => {
    leadSignal = signal;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  });
  ended.catch(() => undefined);
  running.push(ended);
  stops.push(stop);
  return { elector, stop, ended, leadSignal: () => leadSignal };
};

const becameLeader = (contender: Contender): Promise<void> =>
  eventually("it leads", () => contender.elector.isLeading() && contender.leadSignal() !== undefined);

const attempts = (): number => client.writes.length;
const lease = (): Lease | undefined => client.objects(leases)[0];

/** Both have looked at the lease again. */
const nextRound = async (): Promise<void> => {
  let gets = 0;
  const end = client.failOn("get", "Lease", () => void (gets += 1));
  await eventually("the lease was read", () => gets >= 4);
  end();
};

describe("a leader elector", () => {
  it("lets one lead, and the other after a clean release at once", async () => {
    const first = contend("first");
    await becameLeader(first);
    const second = contend("second");
    await nextRound();
    expect(second.elector.isLeading()).toBe(false);

    first.stop.abort();
    await first.ended;
    expect(first.elector.isLeading()).toBe(false);
    await becameLeader(second);
    expect(lease()?.spec).toMatchObject({ holderIdentity: "second", leaseTransitions: 1, leaseDurationSeconds: 15 });
  });

  it("releases only after its work has ended", async () => {
    const elector = createLeaderElector({
      client,
      ...KEY,
      identity: "a",
      retryPeriodMs: 5,
      logger: createMemoryLogger(),
    });
    const stop = new AbortController();
    stops.push(stop);
    let finishWork = (): void => undefined;
    const ended = elector.run(stop.signal, () => new Promise<void>((resolve) => (finishWork = resolve)));
    await eventually("it leads", () => elector.isLeading());
    stop.abort();
    const before = attempts();
    await eventually("it goes on renewing", () => attempts() > before + 1);
    expect(lease()?.spec?.holderIdentity).toBe("a");
    finishWork();
    await ended;
    expect(lease()?.spec?.holderIdentity).toBe("");
  });

  it("renews with six digits and keeps the time it began", async () => {
    await becameLeader(contend("a"));
    time.advance(3_000);
    await eventually("it renewed", () => lease()?.spec?.renewTime === "2026-01-01T00:00:03.000000Z");
    expect(lease()?.spec?.acquireTime).toBe("2026-01-01T00:00:00.000000Z");
  });

  it("counts a lease as free only when it has itself seen it unchanged for its whole duration", async () => {
    const longAgo = "2020-01-01T00:00:00.000000Z";
    client.seed(leases, {
      metadata: KEY,
      spec: { holderIdentity: "other", leaseDurationSeconds: 15, renewTime: longAgo, acquireTime: longAgo },
    });
    const contender = contend("a");
    await nextRound();
    time.advance(14_900);
    await nextRound();
    expect(contender.elector.isLeading()).toBe(false);
    time.advance(200);
    await becameLeader(contender);
  });

  it("stops leading before anyone else could begin, when it cannot renew", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    client.failOn("get", "Lease");
    time.advance(9_999);
    expect(contender.elector.isLeading()).toBe(true);
    expect(contender.elector.writeWindowMs()).toBeLessThanOrEqual(15_000 - 9_999);
    time.advance(1);
    expect(contender.elector.isLeading()).toBe(false);
    expect(contender.elector.writeWindowMs()).toBe(0);
    expect(() => contender.elector.assertLeading()).toThrow(NotLeadingError);
    await expect(contender.ended).rejects.toThrow(LeadershipLostError);
    expect(contender.leadSignal()?.aborted).toBe(true);
  });

  it("does not lead again by a renewal that was still on its way", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    let pass = (): void => undefined;
    const held = new Promise<void>((resolve) => (pass = resolve));
    const replace = client.replace.bind(client);
    let caught = false;
    client.replace = async (...call) => {
      caught = true;
      await held;
      return replace(...call);
    };
    await eventually("a renewal is on its way", () => caught);
    time.advance(10_001);
    pass();
    await expect(contender.ended).rejects.toThrow(LeadershipLostError);
    expect(contender.elector.isLeading()).toBe(false);
  });

  it("goes by the wall clock where the machine slept and the monotonic clock stood still", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    client.failOn("get", "Lease");
    time.setWall(60_000);
    expect(contender.elector.isLeading()).toBe(false);
    await expect(contender.ended).rejects.toThrow(LeadershipLostError);
  });

  it("ends when another holds its lease", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    await client.mergePatch(leases, KEY, { spec: { holderIdentity: "thief" } });
    await expect(contender.ended).rejects.toThrow("was taken by another");
    expect(contender.elector.isLeading()).toBe(false);
    expect(lease()?.spec?.holderIdentity).toBe("thief");
  });

  it("makes the lease anew when someone deleted it", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    await client.delete(leases, KEY);
    await eventually("it is back", () => lease()?.spec?.holderIdentity === "a");
    expect(contender.elector.isLeading()).toBe(true);
  });

  it("fails with its work's own error, and lets the lease go", async () => {
    const elector = createLeaderElector({
      client,
      ...KEY,
      identity: "a",
      retryPeriodMs: 5,
      logger: createMemoryLogger(),
    });
    const ended = elector.run(new AbortController().signal, () => Promise.reject(new Error("caches did not fill")));
    await expect(ended).rejects.toThrow("caches did not fill");
    expect(lease()?.spec?.holderIdentity).toBe("");
  });

  it("refuses times that leave no margin", () => {
    const options = { client, ...KEY, identity: "a", logger: createMemoryLogger() };
    expect(() => createLeaderElector({ ...options, leaseDurationMs: 10_000 })).toThrow(RangeError);
    expect(() => createLeaderElector({ ...options, retryPeriodMs: 10_000 })).toThrow(RangeError);
  });
});

describe("a guarded client", () => {
  const object = { metadata: { namespace: "n", name: "a" } };

  it("sends no write without the lease, and reads all the same", async () => {
    const contender = contend("a");
    const guarded = createGuardedClient(client, contender.elector);
    await becameLeader(contender);
    await guarded.create(configMaps, object);
    client.failOn("get", "Lease");
    time.advance(10_001);
    const before = client.writes.filter(({ kind }) => kind === "ConfigMap").length;
    const writes = [
      () => guarded.create(configMaps, object),
      () => guarded.replace(configMaps, object),
      () => guarded.mergePatch(configMaps, object.metadata, {}),
      () => guarded.patchStatus(configMaps, object.metadata, {}),
      () => guarded.apply(configMaps, object, { fieldManager: "m" }),
      () => guarded.applyStatus(configMaps, object, { fieldManager: "m" }),
      () => guarded.delete(configMaps, object.metadata),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(NotLeadingError);
    expect(client.writes.filter(({ kind }) => kind === "ConfigMap")).toHaveLength(before);
    expect((await guarded.get(configMaps, object.metadata)).metadata.name).toBe("a");
  });

  it("lets no write be on its way for longer than nobody else can lead", async () => {
    const contender = contend("a");
    await becameLeader(contender);
    client.failOn("get", "Lease");
    time.advance(9_000);
    await createGuardedClient(client, contender.elector).create(configMaps, object);
    const timeoutMs = Number(client.writes.at(-1)?.options["timeoutMs"]);
    expect(timeoutMs).toBeGreaterThan(0);
    expect(timeoutMs).toBeLessThanOrEqual(6_000);
  });
});
