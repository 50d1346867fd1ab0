import { describe, expect, it } from "@jest/globals";
import { jsonEqual } from "./json-equal.js";

describe("jsonEqual", () => {
  it.each([
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [[1, 2], [1], false],
    [[], {}, false],
    ["1", 1, false],
  ])("%j and %j: %s", (a, b, want) => {
    expect(jsonEqual(a, b)).toBe(want);
    expect(jsonEqual(b, a)).toBe(want);
  });
});
