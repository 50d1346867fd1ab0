import { describe, expect, it } from "@jest/globals";
import { measurePaired, missesGoal, ratioInterval } from "./bench.js";

const bench = { name: "demo", against: "the other", goal: 0.5, better: "lower" as const, runs: 4 };

describe("measurePaired", () => {
  it("reports the ratio of ours to theirs, exact when every pair agrees", async () => {
    const result = await measurePaired({ ...bench, ours: () => Promise.resolve(2), theirs: () => Promise.resolve(8) });
    expect(result).toMatchObject({ name: "demo", goal: 0.5, better: "lower", runs: 4, against: "the other" });
    for (const bound of [result.value, result.low, result.high]) expect(bound).toBeCloseTo(0.25, 10);
  });

  it("alternates which of the two goes first and discards the warm-up", async () => {
    const order: string[] = [];
    const note = (who: string) => (pair: number) => {
      order.push(`${who}${pair}`);
      return Promise.resolve(1);
    };
    await measurePaired({ ...bench, runs: 2, warmup: 1, ours: note("o"), theirs: note("t") });
    expect(order).toEqual(["o0", "t0", "o0", "t0", "t1", "o1"]);
  });

  it("takes wall time when a measurement returns nothing", async () => {
    const result = await measurePaired({ ...bench, ours: () => Promise.resolve(), theirs: () => Promise.resolve(1e9) });
    expect(result.value).toBeGreaterThan(0);
    expect(result.value).toBeLessThan(1e-3);
  });

  it("refuses what can't be compared", async () => {
    const one = () => Promise.resolve(1);
    await expect(measurePaired({ ...bench, runs: 1, ours: one, theirs: one })).rejects.toThrow(/at least 2 runs/);
    await expect(measurePaired({ ...bench, ours: () => Promise.resolve(0), theirs: one })).rejects.toThrow(/positive/);
  });
});

describe("ratioInterval", () => {
  it("matches a worked example: ln ratios 0 and 1 have t(1) = 12.706 and standard error 0.5", () => {
    const { value, low, high } = ratioInterval([1, Math.E]);
    expect(value).toBeCloseTo(Math.exp(0.5), 9);
    expect(low).toBeCloseTo(Math.exp(0.5 - 12.706 * 0.5), 9);
    expect(high).toBeCloseTo(Math.exp(0.5 + 12.706 * 0.5), 5);
  });
});

describe("missesGoal", () => {
  const result = { ...bench, value: 0.6, low: 0.4, high: 0.7 };
  it.each([
    { name: "an interval that straddles the goal is not a miss", result, want: false },
    { name: "wholly above a goal of lower-is-better is", result: { ...result, low: 0.51 }, want: true },
    {
      name: "wholly below a goal of higher-is-better is",
      result: { ...result, better: "higher" as const, high: 0.49 },
      want: true,
    },
  ])("$name", ({ result, want }) => expect(missesGoal(result)).toBe(want));
});
