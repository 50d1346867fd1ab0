import { describe, expect, it } from "@jest/globals";
import { LIMITS } from "../limits.js";
import { Entrypoint, Env, Name, Traffic } from "./fields.js";
import { FunctionSpec } from "./function.js";

const accepts = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe("names", () => {
  it.each(["a", "hello", "a1-b2", "a".repeat(40)])("takes %j", (name) => expect(accepts(Name, name)).toBe(true));
  it.each(["", "1a", "-a", "a-", "a--b", "A", "a_b", "a.b", "a".repeat(41), "a\n", "é"])("refuses %j", (name) =>
    expect(accepts(Name, name)).toBe(false),
  );
});

describe("entrypoints", () => {
  it.each(["index.handler", "src/app.handler", "pkg.sub.mod.fn", "dist/index.default", "a-b/c.$fn"])(
    "takes %j",
    (entrypoint) => expect(accepts(Entrypoint, entrypoint)).toBe(true),
  );
  it.each(["index", ".handler", "index.", "/etc/passwd.x", "index.handler()", "a b.c", "../x.y"])(
    "refuses %j",
    (entrypoint) => expect(accepts(Entrypoint, entrypoint)).toBe(false),
  );
});

describe("environment", () => {
  it.each([
    ["a reserved prefix", { SLESS_X: "1" }, "begins with SLESS_"],
    ["a name of the platform", { PATH: "/bin" }, "is set by the platform"],
    ["a dash", { "A-B": "1" }, "must be a letter or _"],
    ["an empty name", { "": "1" }, "must be a letter or _"],
    ["a value too long", { A: "x".repeat(LIMITS.envValueBytes + 1) }, "Too big"],
    [
      "too much in all",
      Object.fromEntries(["A", "B", "C", "D", "E"].map((name) => [name, "x".repeat(30_000)])),
      "in all",
    ],
    ["too many", Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`V${index}`, ""])), "more than 100"],
  ])("refuses %s", (_, env, message) => expect(JSON.stringify(Env.safeParse(env).error?.issues)).toContain(message));

  it("takes names that Object.prototype has", () => {
    expect(accepts(Env, { constructor: "a", toString: "b" })).toBe(true);
  });
});

describe("traffic", () => {
  it.each([
    [[{ version: 1, percent: 100 }], true],
    [
      [
        { version: 1, percent: 80 },
        { version: 2, percent: 20, tag: "beta" },
      ],
      true,
    ],
    [[{ version: 1, percent: 99 }], false],
    [[], false],
    [[{ version: 0, percent: 100 }], false],
  ])("%j: %j", (traffic, valid) => expect(accepts(Traffic, traffic)).toBe(valid));
});

it("fills a function's spec with the documented defaults", () => {
  expect(FunctionSpec.parse({ runtime: "nodejs20", entrypoint: "index.handler" })).toEqual({
    runtime: "nodejs20",
    entrypoint: "index.handler",
    memoryMB: 128,
    timeoutSec: 30,
    env: {},
    scale: { min: 1, concurrency: 1 },
    keepVersions: 5,
  });
});
