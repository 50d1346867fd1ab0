import { describe, expect, it } from "@jest/globals";
import { parseConfig } from "./config.js";

const env = { SLESS_ENTRYPOINT: "app.handler" };

describe("parseConfig", () => {
  it("has a default for all but the entrypoint", () => {
    const { worker, port, controlPort } = parseConfig(env);
    expect(worker).toMatchObject({ codeDir: "/function", timeoutMs: 30_000, memoryMb: 128, concurrency: 1 });
    expect([port, controlPort]).toEqual([8080, 8081]);
    expect(() => parseConfig({})).toThrow("SLESS_ENTRYPOINT is not set");
  });

  it.each(["0", "-1", "1s", "", "1e9", "Infinity"])(
    "R30: refuses the timeout %j and says what is allowed",
    (timeout) => {
      expect(() => parseConfig({ ...env, SLESS_TIMEOUT_SEC: timeout })).toThrow(
        /SLESS_TIMEOUT_SEC is .*use a number from/,
      );
    },
  );

  it("R30: takes seconds as seconds", () => {
    expect(parseConfig({ ...env, SLESS_TIMEOUT_SEC: "1" }).worker.timeoutMs).toBe(1_000);
  });

  it("shows the function its own environment and four names of the platform", () => {
    const given = {
      ...env,
      K: "v",
      SLESS_FUNCTION: "f",
      SLESS_VERSION: "2",
      SLESS_MEMORY_MB: "64",
      SLESS_NAMESPACE: "n",
    };
    expect(parseConfig(given).functionEnv).toEqual({
      K: "v",
      SLESS_FUNCTION: "f",
      SLESS_VERSION: "2",
      SLESS_MEMORY_MB: "64",
    });
  });
});
