import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

/**
 * Runs jest with native ES modules and counts its results.
 * @param {string[]} args further arguments of jest
 * @returns {{ passed: number, failed: number, skipped: number, skippedNames: string[] }} a suite that can't start counts as one failure
 */
export const runJest = (args) => {
  const folder = mkdtempSync(join(tmpdir(), "sless-jest-"));
  const report = join(folder, "report.json");
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  const jest = `${root}/node_modules/jest/bin/jest.js`;
  const { status } = spawnSync(process.execPath, [...flags, jest, "--json", `--outputFile=${report}`, ...args], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const results = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
  return {
    passed: results.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: results.numPendingTests + results.numTodoTests,
    skippedNames: results.testResults.flatMap((suite) =>
      suite.assertionResults.filter((test) => test.status === "pending").map((test) => test.fullName),
    ),
  };
};

const readReport = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
    return { ...none, numRuntimeErrorTestSuites: 1, testResults: [] };
  }
};
