import { describe, expect, it } from "@jest/globals";
import { parseQuery } from "./query.js";

describe("parseQuery", () => {
  it.each([
    ["", {}],
    ["&&", {}],
    ["a", { a: [""] }],
    ["a=1&a=2&b", { a: ["1", "2"], b: [""] }],
    ["a&b=1", { a: [""], b: ["1"] }],
    ["a=b=c&=x", { a: ["b=c"], "": ["x"] }],
    ["%C3%A4=%zz&p=a+b%2B", { ä: ["%zz"], p: ["a b+"] }],
  ])("R10: %j", (query, want) => expect({ ...parseQuery(query).multi }).toEqual(want));

  it("security 22: has no inherited names and pollutes nothing", () => {
    const { single, multi } = parseQuery("__proto__=1&constructor=2&toString=3");
    expect(Object.keys(single)).toEqual(["__proto__", "constructor", "toString"]);
    expect(multi["constructor"]).toEqual(["2"]);
    expect("hasOwnProperty" in single).toBe(false);
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });

  it("keeps no more than 1,000 pairs", () => {
    expect(parseQuery("a&".repeat(5_000)).multi["a"]).toHaveLength(1_000);
  });
});
