import { describe, expect, it } from "@jest/globals";
import { aFailedStatus, aFunction, aReadyStatus, aTarget, aVersion, CODE_DIGEST, CREATED_AT } from "@sless/testing";
import { createVersionPace } from "./version-pace.js";
import { planVersion, versionsToPrune } from "./version-plan.js";
import { contentOf } from "./versions.js";

const fn = aFunction();
const content = contentOf(fn.spec, CODE_DIGEST);
const changed = { ...content, memoryMB: 256 };
const later = (ms: number): number => Date.parse(CREATED_AT) + ms;

describe("planVersion", () => {
  it("makes the first version", () => {
    expect(planVersion(fn, [], content, later(0))).toMatchObject({ kind: "create", number: 1 });
  });

  it("makes none for the same content, whatever the order of env or the base image", () => {
    const env = { A: "1", B: "2" };
    const other = `registry.test/x@sha256:${"f".repeat(64)}`;
    const version = aVersion({ spec: { env, baseImage: other } });
    expect(planVersion(fn, [version], { ...content, env: { B: "2", A: "1" } }, later(0))).toEqual({ kind: "exists" });
  });

  it.each<[string, Partial<typeof content>]>([
    ["code", { codeDigest: "a".repeat(64) }],
    ["memory", { memoryMB: 256 }],
    ["timeout", { timeoutSec: 5 }],
    ["entrypoint", { entrypoint: "main.run" }],
    ["env", { env: { A: "1" } }],
  ])("makes one for other %s", (_what, other) => {
    const plan = planVersion(fn, [aVersion({ status: aReadyStatus() })], { ...content, ...other }, later(0));
    expect(plan).toMatchObject({ kind: "create", number: 2, superseded: [] });
  });

  it("never uses a number twice, also when the newest version was deleted", () => {
    const used = aFunction({ status: { latestVersion: 7 } });
    expect(planVersion(used, [aVersion({ status: aReadyStatus() })], changed, later(0))).toMatchObject({ number: 8 });
  });

  it("security 10: waits before it supersedes a version that is young and not ready", () => {
    expect(planVersion(fn, [aVersion()], changed, later(500))).toEqual({ kind: "wait", afterMs: 1500 });
  });

  it("gives a pending version up for a newer one, not one that failed or takes calls", () => {
    const pending = aVersion();
    expect(planVersion(fn, [pending], changed, later(3000))).toMatchObject({ number: 2, superseded: [pending] });
    const failed = aVersion({ status: aFailedStatus("LoadError", "no export") });
    expect(planVersion(fn, [failed], changed, later(3000))).toMatchObject({ superseded: [] });
    const routed = aFunction({ status: { traffic: [aTarget(pending)] } });
    expect(planVersion(routed, [pending], changed, later(3000))).toMatchObject({ superseded: [] });
  });
});

describe("versionsToPrune", () => {
  const numbered = (number: number, status = aReadyStatus()) => aVersion({ spec: { version: number }, status });
  const prune = (keepVersions: number, traffic: number[], versions = [6, 5, 4, 3, 2, 1].map((n) => numbered(n))) => {
    const spec = { keepVersions, traffic: traffic.map((version) => ({ version, percent: 100 / traffic.length })) };
    return versionsToPrune(aFunction({ spec }), versions).map((version) => version.spec.version);
  };

  it("keeps so many for a rollback, beside the newest and those that traffic names", () => {
    expect(prune(2, [6])).toEqual([3, 2, 1]);
    expect(prune(2, [1])).toEqual([3, 2]);
  });

  it("lets no series of broken deploys evict a good version", () => {
    const broken = aFailedStatus("LoadError", "no export");
    const versions = [numbered(5), numbered(4, broken), numbered(3, broken), numbered(2), numbered(1)];
    expect(prune(1, [5], versions)).toEqual([1, 3]);
  });
});

describe("createVersionPace", () => {
  it("security 10: lets a burst pass, then one a second", () => {
    let now = 0;
    const pace = createVersionPace({ monotonic: () => now });
    const burst = Array.from({ length: 10 }, () => pace.take("uid"));
    expect(burst.every((wait) => wait === 0)).toBe(true);
    expect(pace.take("uid")).toBe(1000);
    expect(pace.take("another")).toBe(0);
    now = 1000;
    expect(pace.take("uid")).toBe(0);
  });
});
