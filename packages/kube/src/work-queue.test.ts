import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { createKeyedRateLimiter } from "./rate-limiter.js";
import { createWorkQueue, type WorkQueue } from "./work-queue.js";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const takeAll = async (queue: WorkQueue): Promise<(string | undefined)[]> => {
  const taken: (string | undefined)[] = [];
  while (queue.length > 0) taken.push(await queue.take());
  return taken;
};

describe("a work queue", () => {
  it("holds a key once, and hands keys out in the order they came", async () => {
    const queue = createWorkQueue();
    ["a", "b", "a", "c", "b"].forEach(queue.add);
    expect(await takeAll(queue)).toEqual(["a", "b", "c"]);
  });

  it("never hands out a key in work; what came meanwhile queues it once more, behind the others", async () => {
    const queue = createWorkQueue();
    queue.add("a");
    expect(await queue.take()).toBe("a");
    ["a", "a", "b"].forEach(queue.add);
    expect(queue.length).toBe(1);
    queue.finish("a");
    expect(await takeAll(queue)).toEqual(["b", "a"]);
    queue.finish("a");
    expect(queue.length).toBe(0);
  });

  it("wakes one taker for each key, first come first served", async () => {
    const queue = createWorkQueue();
    const takers = [queue.take(), queue.take()];
    queue.add("a");
    queue.add("b");
    expect(await Promise.all(takers)).toEqual(["a", "b"]);
  });

  it("adds later, the earliest of several times, and at once when it comes anyway", async () => {
    const queue = createWorkQueue();
    queue.addAfter("a", 1000);
    queue.addAfter("a", 200);
    queue.addAfter("a", 500);
    jest.advanceTimersByTime(199);
    expect(queue.length).toBe(0);
    jest.advanceTimersByTime(1);
    expect(await takeAll(queue)).toEqual(["a"]);
    queue.finish("a");
    jest.advanceTimersByTime(5000);
    expect(queue.length).toBe(0);

    queue.addAfter("b", 1000);
    queue.add("b");
    expect(await takeAll(queue)).toEqual(["b"]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("doubles a key's wait until it is forgotten", () => {
    const queue = createWorkQueue({ rateLimit: { baseMs: 5, maxMs: 30 } });
    expect([1, 2, 3, 4, 5].map(() => queue.addRateLimited("a"))).toEqual([5, 10, 20, 30, 30]);
    expect(queue.retries("a")).toBe(5);
    queue.forget("a");
    expect(queue.addRateLimited("a")).toBe(5);
    expect(queue.addRateLimited("b")).toBe(5);
  });

  it("shuts down: takers wake, nothing comes in, and it is drained when the last key is finished", async () => {
    const queue = createWorkQueue();
    queue.add("a");
    queue.addAfter("later", 10);
    expect(await queue.take()).toBe("a");
    const waiting = queue.take();
    queue.add("b");
    expect(await waiting).toBe("b");
    const idle = queue.take();
    queue.shutDown();
    expect(await idle).toBeUndefined();
    queue.add("c");
    expect(await queue.take()).toBeUndefined();
    let drained = false;
    void queue.drained.then(() => (drained = true));
    queue.finish("a");
    await Promise.resolve();
    expect(drained).toBe(false);
    queue.finish("b");
    await queue.drained;
    expect(jest.getTimerCount()).toBe(0);
  });

  it("reports to its metrics", async () => {
    const seen: string[] = [];
    const queue = createWorkQueue({
      metrics: {
        depth: (length) => seen.push(`depth ${length}`),
        add: () => seen.push("add"),
        retry: () => seen.push("retry"),
        latency: (seconds) => seen.push(`latency ${seconds.toFixed(1)}`),
        workDuration: (seconds) => seen.push(`work ${seconds.toFixed(1)}`),
      },
    });
    queue.add("a");
    jest.advanceTimersByTime(1500);
    await queue.take();
    jest.advanceTimersByTime(300);
    queue.addRateLimited("a");
    queue.finish("a");
    expect(seen).toEqual(["add", "depth 1", "latency 1.5", "depth 0", "retry", "work 0.3"]);
  });
});

describe("the rate limiter", () => {
  it("bounds all keys together by a token bucket", () => {
    const limiter = createKeyedRateLimiter({ baseMs: 5, perSecond: 10, burst: 3 });
    const waits = ["a", "b", "c", "d", "e"].map((key) => limiter.next(key));
    expect(waits).toEqual([5, 5, 5, 100, 200]);
    jest.advanceTimersByTime(1000);
    expect(limiter.next("f")).toBe(5);
  });
});
