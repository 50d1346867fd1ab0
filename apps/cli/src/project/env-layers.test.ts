import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAssignments } from "./env-file.js";
import { layerEnv } from "./env-layers.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sless-env-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it("L5: has one order of precedence and names the source that won", () => {
  writeFileSync(join(dir, ".env"), "A=env\nB=env\nC=env\n");
  writeFileSync(join(dir, ".env.local"), "B=local\nC=local\n");
  expect(layerEnv(dir, { A: "yaml", Z: "yaml" }, { C: "flag" })).toEqual([
    { name: "A", value: "env", source: ".env" },
    { name: "B", value: "local", source: ".env.local" },
    { name: "C", value: "flag", source: "--env" },
    { name: "Z", value: "yaml", source: "sless.yaml" },
  ]);
});

it("does without files", () => {
  expect(layerEnv(dir, {}, {})).toEqual([]);
});

describe("parseAssignments", () => {
  it("keeps further equals signs and empty values", () => {
    expect(parseAssignments(["A=1", "B=x=y", "C="])).toEqual({ A: "1", B: "x=y", C: "" });
  });

  it.each(["A", "=1", ""])("refuses %j", (assignment) =>
    expect(() => parseAssignments([assignment])).toThrow(/sets nothing/),
  );
});
