/** Runs the suite of all runtimes against this one, on the machine's own Python 3.11 where there is one. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { describeConformance } from "@sless/runtime-conformance";

const here = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

const findPython = (): string | undefined => {
  try {
    return execFileSync("python3.11", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
};

const python = findPython();
if (python === undefined) {
  describe("the Python runtime", () => {
    it.skip("passes the conformance suite: Python 3.11 is not on this machine", () => undefined);
  });
} else {
  describeConformance(
    { language: "python", command: [python, "-m", "sless_runtime"], env: { PYTHONPATH: here, PATH: "/usr/bin:/bin" } },
    { describe, it, beforeAll, afterAll },
  );
}
