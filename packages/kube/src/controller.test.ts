import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import {
  createController,
  done,
  requeueAfter,
  source,
  StalledError,
  SyncTimeoutError,
  WaitingError,
  type ControllerOptions,
  type Reconcile,
} from "./controller.js";
import { NotLeadingError } from "./errors.js";
import { createInformer } from "./informer.js";
import { configMaps, secrets } from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { createFakeKubeClient, type FakeKubeClient } from "./testing/fake-client.js";
import { createMemoryLogger } from "./testing/memory-logger.js";

let client: FakeKubeClient;
let stop: AbortController;
let logger: ReturnType<typeof createMemoryLogger>;
let calls: string[];

beforeEach(() => {
  client = createFakeKubeClient();
  stop = new AbortController();
  logger = createMemoryLogger();
  calls = [];
});
afterEach(() => stop.abort());

const seed = (name: string): void => {
  client.seed(configMaps, { metadata: { namespace: "n", name } });
};

const touch = (name: string): Promise<unknown> =>
  client.mergePatch(configMaps, { namespace: "n", name }, { data: { at: String(Math.random()) } });

const start = (reconcile: Reconcile, options: Partial<ControllerOptions> = {}): Promise<void> => {
  const informer = createInformer({ client, resource: configMaps, logger });
  void informer.run(stop.signal);
  const counted: Reconcile = (key, context) => {
    calls.push(key);
    return reconcile(key, context);
  };
  const base = { name: "test", sources: [source(informer)], reconcile: counted, logger };
  return createController({ ...base, rateLimit: { baseMs: 1 }, ...options }).run(stop.signal);
};

const finished = async (running: Promise<void>): Promise<void> => {
  stop.abort();
  await running;
};

const settle =
  (result: () => ReturnType<typeof done>): Reconcile =>
  () =>
    Promise.resolve().then(result);

describe("a controller", () => {
  it("reconciles what is there and what changes", async () => {
    seed("a");
    const running = start(settle(done));
    await eventually("the first is reconciled", () => calls.length === 1);
    await touch("a");
    await eventually("the change is reconciled", () => calls.length === 2);
    await client.delete(configMaps, { namespace: "n", name: "a" });
    await eventually("the delete is reconciled", () => calls.length === 3);
    expect(new Set(calls)).toEqual(new Set(["n/a"]));
    await finished(running);
  });

  it("maps other kinds to keys, by their new and their old value", async () => {
    const children = createInformer({ client, resource: secrets, logger });
    void children.run(stop.signal);
    const owner = source(children, (secret) => [secret.metadata.labels?.["owner"] ?? "none"]);
    const running = start(settle(done), { sources: [owner] });
    await client.create(secrets, { metadata: { namespace: "n", name: "s", labels: { owner: "x" } } });
    await eventually("its owner is reconciled", () => calls.length === 1);
    await client.mergePatch(secrets, { namespace: "n", name: "s" }, { metadata: { labels: { owner: "y" } } });
    await eventually("both owners are reconciled", () => calls.length === 3);
    expect(calls).toEqual(["x", "x", "y"]);
    await finished(running);
  });

  it("never runs one key twice at once, while others go on beside it", async () => {
    ["a", "b", "c"].forEach(seed);
    const inWork = new Set<string>();
    let together = 0;
    const release: (() => void)[] = [];
    const reconcile: Reconcile = async (key) => {
      expect(inWork.has(key)).toBe(false);
      inWork.add(key);
      together = Math.max(together, inWork.size);
      await new Promise<void>((resolve) => release.push(resolve));
      inWork.delete(key);
      return done();
    };
    const running = start(reconcile, { concurrency: 2 });
    await eventually("two are in work", () => release.length === 2);
    await touch("a");
    await touch("a");
    release.splice(0).forEach((go) => go());
    await eventually("c and a again are in work", () => release.length === 2);
    release.splice(0).forEach((go) => go());
    await eventually("nothing is in work", () => inWork.size === 0);
    expect(together).toBe(2);
    expect([...calls].sort()).toEqual(["n/a", "n/a", "n/b", "n/c"]);
    await finished(running);
  });

  it.each<{ name: string; outcome: () => ReturnType<typeof done>; want: { calls: number; level?: string } }>([
    { name: "done() is not called again", outcome: done, want: { calls: 1 } },
    {
      name: "StalledError waits for a change",
      outcome: () => {
        throw new StalledError("bad spec");
      },
      want: { calls: 1, level: "warn" },
    },
    {
      name: "NotLeadingError is not tried again",
      outcome: () => {
        throw new NotLeadingError("lost");
      },
      want: { calls: 1, level: "warn" },
    },
  ])("$name", async ({ outcome, want }) => {
    seed("a");
    const running = start(settle(outcome));
    await eventually("it is reconciled", () => calls.length === 1);
    seed("fence");
    await eventually("a later key is reconciled", () => calls.includes("n/fence"));
    expect(calls.filter((key) => key === "n/a")).toHaveLength(want.calls);
    expect(logger.lines.filter((line) => "key" in line.fields)[0]?.level).toBe(want.level);
    await touch("a");
    await eventually("a change wakes it", () => calls.filter((key) => key === "n/a").length === want.calls + 1);
    await finished(running);
  });

  it.each<{ name: string; outcome: () => ReturnType<typeof done> }>([
    { name: "requeueAfter() comes again after its time", outcome: () => requeueAfter(5) },
    {
      name: "WaitingError comes again after its time",
      outcome: () => {
        throw new WaitingError("no endpoint yet", 5);
      },
    },
    {
      name: "any other error comes again after growing waits",
      outcome: () => {
        throw new Error("boom");
      },
    },
  ])("$name", async ({ outcome }) => {
    seed("a");
    const running = start(settle(outcome));
    await eventually("it came four times", () => calls.length >= 4);
    await finished(running);
  });

  it("says what failed, and goes on with other keys", async () => {
    seed("bad");
    seed("good");
    const running = start((key) => {
      if (key === "n/bad") throw new TypeError("thrown before any promise");
      return Promise.resolve(done());
    });
    await eventually("both were tried", () => calls.includes("n/good") && calls.length >= 3);
    const [line] = logger.lines.filter(({ level }) => level === "error");
    expect(line).toMatchObject({
      message: "reconcile failed, trying again",
      fields: { controller: "test", key: "n/bad" },
    });
    await finished(running);
  });

  it("tells a reconcile that took too long, and all of them when it stops", async () => {
    seed("a");
    const reasons: unknown[] = [];
    const reconcile: Reconcile = (_key, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
      });
    const running = start(reconcile, { reconcileTimeoutMs: 20 });
    await eventually("the time ran out", () => reasons.length >= 1);
    expect(String(reasons[0])).toContain("reconcile of n/a took longer than 20 ms");
    await finished(running);
  });

  it("does not wait for ever for its caches, and names what is missing", async () => {
    client.failOn("list", "ConfigMap");
    const running = start(settle(done), { syncTimeoutMs: 30 });
    await expect(running).rejects.toThrow(SyncTimeoutError);
    await expect(running).rejects.toThrow(/no full list of ConfigMap in 30 ms; check .* may list and watch/);
    expect(calls).toEqual([]);
  });
});
