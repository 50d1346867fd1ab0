import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { ClientGoneError, ClientWatch } from "./client-watch.js";
import { Endpoint, type EndpointAddress } from "./endpoint.js";
import { VersionPool } from "./version-pool.js";

const address = (podUid: string, more: Partial<EndpointAddress> = {}): EndpointAddress => ({
  ...{ podUid, address: "127.0.0.1", port: 1, ready: true, terminating: false },
  ...more,
});
const aWatch = (): ClientWatch => new ClientWatch(new EventEmitter() as unknown as ServerResponse);

let pool: VersionPool;
beforeEach(() => {
  pool = new VersionPool({ maxQueued: 2, queueMs: 1000 });
});
afterEach(() => pool.close());

const take = (concurrency = 1): string | undefined => pool.tryTake(concurrency)?.key;
const wait = (options: { first?: boolean; watch?: ClientWatch; ms?: number; concurrency?: number } = {}) =>
  pool.wait({
    concurrency: options.concurrency ?? 1,
    until: performance.now() + (options.ms ?? 1000),
    first: options.first ?? false,
    watch: options.watch ?? aWatch(),
  });

describe("VersionPool", () => {
  it("fills endpoints evenly and no further than their concurrency", () => {
    pool.setEndpoints([address("a"), address("b")]);
    const taken = [take(2), take(2), take(2), take(2), take(2)];
    expect(taken.slice(0, 4).sort()).toEqual(["a/127.0.0.1:1", "a/127.0.0.1:1", "b/127.0.0.1:1", "b/127.0.0.1:1"]);
    expect(taken[4]).toBeUndefined();
    expect(pool.inFlight).toBe(4);
  });

  it("prefers ready endpoints, tries others when those are full, and never terminating ones", () => {
    pool.setEndpoints([address("new", { ready: false }), address("ready"), address("going", { terminating: true })]);
    expect([take(), take(), take()]).toEqual(["ready/127.0.0.1:1", "new/127.0.0.1:1", undefined]);
  });

  it("serves those who wait in the order in which they came, and refused calls before them", async () => {
    pool.setEndpoints([address("a")]);
    const place = pool.tryTake(1) as Endpoint;
    const order: string[] = [];
    const calls = [wait().then(() => order.push("one")), wait().then(() => order.push("two"))];
    calls.push(wait({ first: true }).then(() => order.push("refused")));
    for (const call of [calls[2], calls[0], calls[1]]) {
      pool.release(place);
      await call;
    }
    expect(order).toEqual(["refused", "one", "two"]);
  });

  it("refuses at once with 429 when as many wait as may", async () => {
    void wait();
    void wait();
    expect(await wait()).toMatchObject({ reason: "queue-full", kind: "too-many-requests", retryAfterSec: 1 });
  });

  it("waits for an endpoint of a version that has none, as a start from zero needs it", async () => {
    const waiting = wait();
    pool.setEndpoints([address("a")]);
    expect(await waiting).toBeInstanceOf(Endpoint);
  });

  it("tells a version without instances from one whose instances are busy", async () => {
    expect(await wait({ ms: 1 })).toMatchObject({ reason: "no-instance", kind: "unavailable" });
    pool.setEndpoints([address("a")]);
    take();
    expect(await wait({ ms: 1 })).toMatchObject({ reason: "queue-timeout", kind: "unavailable" });
  });

  it("forgets a call whose client went away", async () => {
    const watch = aWatch();
    const waiting = wait({ watch });
    watch.onGone?.();
    await expect(waiting).rejects.toThrow(ClientGoneError);
    expect(pool.queued).toBe(0);
  });

  it("tries an endpoint that backs off again without being told", async () => {
    pool.setEndpoints([address("a")]);
    const place = pool.tryTake(1) as Endpoint;
    place.backOff();
    pool.release(place);
    expect(take()).toBeUndefined();
    expect(await wait()).toBe(place);
  });

  it("security 18: another pod at the same address is another endpoint", () => {
    pool.setEndpoints([address("a")]);
    const old = pool.tryTake(1) as Endpoint;
    pool.setEndpoints([address("b")]);
    expect(old.hasRoom(2)).toBe(false);
    expect(take()).toBe("b/127.0.0.1:1");
  });

  it("counts calls to a pod that has left until they end", () => {
    pool.setEndpoints([address("a")]);
    const place = pool.tryTake(1) as Endpoint;
    pool.setEndpoints([]);
    expect([pool.inFlight, pool.isIdle]).toEqual([1, false]);
    pool.release(place);
    expect(pool.isIdle).toBe(true);
  });
});
