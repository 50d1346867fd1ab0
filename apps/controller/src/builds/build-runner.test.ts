import { describe, expect, it } from "@jest/globals";
import { systemClock } from "@sless/kube";
import { eventually } from "@sless/kube/testing";
import { createBuildRunner, type BuildJob, type BuildRunner } from "./build-runner.js";

const image = { image: "registry.test/x@sha256:00", strategy: "fake", warnings: [] };

/** A runner whose builds run until they are released. */
const setUp = (concurrency = 4, perTenant = 2) => {
  const running = new Map<string, () => void>();
  const settled: string[] = [];
  const runner = createBuildRunner({
    concurrency,
    perTenant,
    clock: systemClock,
    onSettled: (key) => settled.push(key),
  });
  const job = (uid: string, tenant: string): BuildJob => ({
    uid,
    key: `${tenant}/${uid}`,
    tenant,
    run: (signal) =>
      new Promise((resolve, reject) => {
        running.set(uid, () => resolve(image));
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  });
  return { runner, running, settled, job };
};
const kindOf = (runner: BuildRunner, uid: string): string | undefined => runner.state(uid)?.kind;

describe("createBuildRunner", () => {
  it("security 9: one tenant never holds all builds", () => {
    const { runner, running, job } = setUp();
    for (const uid of ["a1", "a2", "a3", "a4", "a5"]) runner.ensure(job(uid, "a"));
    runner.ensure(job("b1", "b"));
    expect([...running.keys()]).toEqual(["a1", "a2", "b1"]);
  });

  it("runs what waits when one ends, tells its key, and remembers the image", async () => {
    const { runner, running, settled, job } = setUp(1, 1);
    runner.ensure(job("a1", "a"));
    expect(runner.ensure(job("a2", "a")).kind).toBe("queued");
    running.get("a1")?.();
    await eventually("the second runs", () => running.has("a2"));
    expect(settled).toEqual(["a/a1"]);
    expect(runner.ensure(job("a1", "a"))).toMatchObject({ kind: "built", result: image });
  });

  it("ends a build that is no longer wanted, and tells nobody", async () => {
    const { runner, settled, job } = setUp();
    runner.ensure(job("a1", "a"));
    await runner.cancel("a1");
    expect(kindOf(runner, "a1")).toBeUndefined();
    expect(settled).toEqual([]);
  });

  it("counts attempts and runs a failed build again when asked", async () => {
    const { runner, running } = setUp();
    let attempts = 0;
    const run = (): Promise<never> => Promise.reject(new Error(`attempt ${++attempts}`));
    runner.ensure({ uid: "a1", key: "a/a1", tenant: "a", run });
    await eventually("it failed", () => kindOf(runner, "a1") === "failed");
    runner.retry("a1");
    await eventually("it failed again", () => attempts === 2 && kindOf(runner, "a1") === "failed");
    expect(runner.state("a1")).toMatchObject({ kind: "failed", attempts: 2 });
    expect(running.size).toBe(0);
  });

  it("ends everything on close and takes no more", async () => {
    const { runner, running, job } = setUp(1, 1);
    runner.ensure(job("a1", "a"));
    runner.ensure(job("a2", "a"));
    await runner.close();
    runner.ensure(job("a3", "a"));
    expect([...running.keys()]).toEqual(["a1"]);
  });
});
