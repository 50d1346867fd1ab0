import { describe, expect, it } from "@jest/globals";
import { humanDuration } from "./duration.js";
import { compileJsonPath } from "./json-path.js";

describe("humanDuration", () => {
  it.each([
    [-5, "<invalid>"],
    [-0.5, "0s"],
    [0, "0s"],
    [119, "119s"],
    [120, "2m"],
    [192, "3m12s"],
    [600, "10m"],
    [3 * 3600, "3h"],
    [4 * 3600 + 300, "4h5m"],
    [9 * 3600 + 300, "9h"],
    [50 * 3600, "2d2h"],
    [8 * 86_400, "8d"],
    [800 * 86_400, "2y70d"],
    [4000 * 86_400, "10y"],
  ])("prints %d seconds as %s", (seconds, want) => {
    expect(humanDuration(seconds)).toBe(want);
  });
});

describe("compileJsonPath", () => {
  const object = {
    metadata: { labels: { "a.b/c": "label" } },
    status: {
      conditions: [
        { type: "Ready", status: "False" },
        { type: "Serving", status: "True" },
      ],
      ports: [80, 81],
    },
  };

  it.each([
    [".status.ports[0]", 80],
    ["status.ports[-1]", 81],
    ['.status.conditions[?(@.type=="Serving")].status', "True"],
    [".metadata.labels.a\\.b/c", "label"],
    [".status.ports[*]", 80],
    [".none.at.all", undefined],
  ])("finds %s", (path, want) => {
    expect(compileJsonPath(path)(object)).toBe(want);
  });

  it.each([".a[", "{.a}[?(@.x>1)]", ".a..b"])("refuses %s", (path) => {
    expect(() => compileJsonPath(path)).toThrow("is not understood");
  });
});
