import { describe, expect, it } from "@jest/globals";
import { cpuRequest, parseQuantity } from "./quantities.js";

describe("parseQuantity", () => {
  it.each([
    ["0", 0],
    ["250m", 0.25],
    ["1", 1],
    ["1.5", 1.5],
    ["128Mi", 134_217_728],
    ["4Gi", 4_294_967_296],
    ["1k", 1000],
    ["1e3", 1000],
    ["1E3", 1000],
    ["2E", 2e18],
    ["-1", -1],
    [".5", 0.5],
  ])("%s is %d", (text, value) => expect(parseQuantity(text)).toBeCloseTo(value, 12));

  it.each(["", "Mi", "1 Mi", "1mi", "1KiB", "0x10", "NaN", "1e", "--1"])("refuses %j", (text) =>
    expect(() => parseQuantity(text)).toThrow(RangeError),
  );
});

it("requests CPU in proportion to memory, and some for the smallest", () => {
  expect([64, 128, 2048, 8192].map(cpuRequest)).toEqual(["31m", "63m", "1000m", "4000m"]);
});
