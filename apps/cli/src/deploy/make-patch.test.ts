import { describe, expect, it } from "@jest/globals";
import type { FunctionBody } from "@sless/contracts";
import { makePatch } from "./deploy.js";

const fn = {
  runtime: "nodejs20",
  entrypoint: "index.handler",
  memory_mb: 256,
  timeout_sec: 30,
  env_vars: { A: "1", B: "2" },
  scale: { min: 1, concurrency: 1 },
} as unknown as FunctionBody;
const same = { runtime: "nodejs20", entrypoint: "index.handler", env_vars: { A: "1", B: "2" } };

describe("makePatch", () => {
  it("says nothing when nothing differs", () => {
    expect(makePatch(fn, same)).toBeUndefined();
  });

  it("leaves alone what the project does not speak of", () => {
    expect(makePatch(fn, { ...same, timeout_sec: 10 })).toEqual({ timeout_sec: 10 });
  });

  it("removes variables that the project no longer has", () => {
    expect(makePatch(fn, { ...same, env_vars: { A: "new" } })).toEqual({ env_vars: { A: "new", B: null } });
  });
});
