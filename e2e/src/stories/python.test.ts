import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../harness/eventually.js";
import { call } from "../harness/http.js";
import { makeTemporaryFolder, startPlatform, type TestPlatform } from "../harness/platform.js";
import { EXAMPLES_DIR } from "../harness/sless.js";

const hasPython = (): boolean => {
  try {
    execFileSync("python3.11", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const EXAMPLE = join(EXAMPLES_DIR, "hello-python");

(hasPython() ? describe : describe.skip)("Python 3.11", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  it("the example is deployed from its folder and answers", async () => {
    const deployed = await platform.sless(["deploy", EXAMPLE]);
    expect(deployed).toMatchObject({ code: 0 });
    const answer = await call(`${deployed.stdout.trim()}/?name=Ada`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Ada");
    await eventually("its log says so", 5000, async () =>
      (await platform.sless(["logs", "hello-python"])).stdout.includes("Ada"),
    );
  });
});

describe("a runtime that this machine lacks", () => {
  it("is named in the condition of its functions, with what to do", async () => {
    // The PATH of this platform has the Node.js that runs it and nothing else.
    const platform = await startPlatform(makeTemporaryFolder(), {
      PATH: join(process.execPath, "..") + "-without-python",
    });
    const deployed = await platform.sless(["deploy", EXAMPLE]);
    expect(deployed.code).toBe(1);
    expect(deployed.stderr).toContain("Python 3.11 is not on this machine");
    const { value } = await platform.tenant("developer").client.functions.get("hello-python");
    expect(value.status.conditions.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "RuntimeUnavailable",
    });
    await platform.stop();
  });
});
