import { describe, expect, it } from "@jest/globals";
import { CONTROLLER_VARIABLES, GATEWAY_VARIABLES } from "./apps.js";
import { ConfigError, parseEnv } from "./parse-env.js";

const gateway = { SLESS_INTERNAL_KEY: "k", SLESS_FUNCTIONS_DOMAIN: "fn.example.com" };

const problemsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  try {
    parseEnv(env, GATEWAY_VARIABLES);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe("parseEnv", () => {
  it("gives typed values, defaults included, and freezes them", () => {
    const config = parseEnv(
      { ...gateway, SLESS_PUBLIC_LISTEN: "[::1]:9000", SLESS_TRUSTED_PROXIES: "10.0.0.0/8, ::1" },
      GATEWAY_VARIABLES,
    );
    expect(config).toMatchObject({
      SLESS_PUBLIC_LISTEN: { host: "::1", port: 9000 },
      SLESS_TRUSTED_PROXIES: ["10.0.0.0/8", "::1"],
      SLESS_QUEUE_SECONDS: 10,
      SLESS_SYSTEM_NAMESPACE: "sless",
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    ["a missing one", { ...gateway, SLESS_INTERNAL_KEY: undefined }, /^SLESS_INTERNAL_KEY: must be set.*Example: /],
    [
      "an unknown one",
      { ...gateway, SLESS_QUEUE_SECOND: "5" },
      /^SLESS_QUEUE_SECOND is not a setting.*did you mean SLESS_QUEUE_SECONDS\?/,
    ],
    [
      "no number",
      { ...gateway, SLESS_QUEUE_SECONDS: "5s" },
      /^SLESS_QUEUE_SECONDS: must be a whole number, not "5s"\. .*Example: SLESS_QUEUE_SECONDS=10/,
    ],
    ["a number out of range", { ...gateway, SLESS_QUEUE_SECONDS: "-1" }, /^SLESS_QUEUE_SECONDS: Too small/],
    ["no address", { ...gateway, SLESS_PUBLIC_LISTEN: "8080" }, /^SLESS_PUBLIC_LISTEN: must be host:port/],
    ["a port too high", { ...gateway, SLESS_PUBLIC_LISTEN: "0.0.0.0:70000" }, /port above 65535/],
    ["no level", { ...gateway, SLESS_LOG_LEVEL: "loud" }, /^SLESS_LOG_LEVEL: must be one of debug, info/],
  ])("says what is wrong with %s", (_, env, message) =>
    expect(problemsOf(env)).toEqual([expect.stringMatching(message)]),
  );

  it("names all problems at once", () => {
    expect(problemsOf({ SLESS_QUEUE_SECONDS: "x", SLESS_NONSENSE: "1" })).toHaveLength(4);
  });

  it("never prints a secret", () => {
    const env = { SLESS_RUNTIMES: "{", SLESS_REGISTRY_PASSWORD: "hunter2" };
    expect(() => parseEnv(env, CONTROLLER_VARIABLES)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
    );
  });

  it("demands base images by digest", () => {
    const SLESS_RUNTIMES = JSON.stringify([
      { name: "nodejs20", family: "nodejs", image: "registry.example/nodejs20:latest" },
    ]);
    expect(() => parseEnv({ SLESS_RUNTIMES }, CONTROLLER_VARIABLES)).toThrow(/must name the image by digest/);
  });
});
