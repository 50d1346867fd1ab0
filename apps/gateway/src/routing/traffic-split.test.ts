import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { targetOf } from "../testing/gateway-fixture.js";
import { createTrafficSplit } from "./traffic-split.js";

const split = (...percents: number[]) =>
  createTrafficSplit(percents.map((percent, index) => targetOf(index + 1, `0000000${index}`, { percent })));
const take = (calls: number, from: ReturnType<typeof split>) =>
  Array.from({ length: calls }, () => from.next()?.version);

describe("createTrafficSplit", () => {
  it("C10: is exact over each window of 100 calls", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 99 }), (percent, offset) => {
        const calls = split(percent, 100 - percent);
        take(offset, calls);
        expect(take(100, calls).filter((version) => version === 1)).toHaveLength(percent);
      }),
    );
  });

  it("spreads a small share over the window", () => {
    expect(take(10, split(80, 20))).toEqual([1, 1, 2, 1, 1, 1, 1, 2, 1, 1]);
  });

  it("sends nothing to a version of 0 percent, which only its tag reaches", () => {
    expect(new Set(take(50, split(100, 0)))).toEqual(new Set([1]));
  });

  it("has no version while none takes traffic", () => {
    expect([split().next(), split(0).next()]).toEqual([undefined, undefined]);
  });
});
