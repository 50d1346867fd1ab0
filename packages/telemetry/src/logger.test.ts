import { describe, expect, it } from "@jest/globals";
import { createLogger } from "./logger.js";

const capture = () => {
  const lines: string[] = [];
  const logger = createLogger({
    component: "api",
    level: "info",
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? "{}") as Record<string, unknown> };
};

describe("createLogger", () => {
  it("writes one JSON object a line with component, level name and RFC 3339 time", () => {
    const { logger, last } = capture();
    logger.info({ port: 1 }, "listening");
    expect(last()).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown,
      component: "api",
      port: 1,
      message: "listening",
    });
  });

  it("security 25: redacts tokens, authorization and cookies by field name, also when nested", () => {
    const { logger, lines } = capture();
    logger.info(
      {
        authorization: "CANARY",
        headers: { cookie: "CANARY", "set-cookie": ["CANARY"], "x-sless-caller": "CANARY" },
        req: { headers: { authorization: "CANARY" }, token: "CANARY" },
      },
      "call",
    );
    expect(lines.join("")).not.toContain("CANARY");
    expect(lines.join("")).toContain("[redacted]");
  });

  it("security 25: masks credentials inside texts and errors", () => {
    const { logger, lines } = capture();
    logger.warn({ err: new Error("refused: Authorization: Bearer abcdefgh12345") }, "see eyJhbGciOi.eyJzdWIi.c2ln");
    expect(lines.join("")).not.toMatch(/abcdefgh12345|eyJzdWIi/);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: "see [redacted]" });
  });

  it("drops what is below the level", () => {
    const { logger, lines } = capture();
    logger.debug("quiet");
    expect(lines).toEqual([]);
  });
});
