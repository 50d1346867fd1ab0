/**
 * From the upload of changed code to its first answer through the gateway, on the embedded cluster, against a bare
 * start of the same runtime with the same handler until it answers.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeDirectory } from "@sless/runtime-nodejs20";
import { measurePaired } from "@sless/testing";
import { deploy, nodeFiles, upload } from "../src/harness/functions.js";
import { call } from "../src/harness/http.js";
import { startPlatform } from "../src/harness/platform.js";
import { startBare } from "./bare-start.js";

const RUNS = 15;
const LONGEST_MS = 30_000;

const handler = (text: string): string => `export const handler = async () => ${JSON.stringify(text)};\n`;

const untilNew = async (url: string, text: string): Promise<void> => {
  const deadline = performance.now() + LONGEST_MS;
  while (performance.now() < deadline) {
    const answer = await call(url);
    if (answer.text === text) return;
    if (answer.status !== 200) throw new Error(`a call failed during the redeploy: ${answer.status} ${answer.text}`);
  }
  throw new Error(`the new code did not answer within ${LONGEST_MS} ms`);
};

const folder = mkdtempSync(join(tmpdir(), "sless-bench-redeploy-"));
const platform = await startPlatform();
try {
  const tenant = platform.tenant("bench");
  const url = await deploy(tenant, "redeployed", nodeFiles(handler("first")));
  let count = 0;
  const result = await measurePaired({
    name: "redeploy-vs-bare-start",
    against: "a bare start of the same runtime and handler until it answers",
    goal: 4,
    better: "lower",
    runs: RUNS,
    warmup: 2,
    ours: async () => {
      const text = `redeployed ${count++}`;
      const started = performance.now();
      await upload(tenant, "redeployed", nodeFiles(handler(text)));
      await untilNew(url, text);
      const ms = performance.now() - started;
      process.stderr.write(`redeploy ${ms.toFixed(0)} ms\n`);
      return ms;
    },
    theirs: async () => {
      const text = `bare ${count++}`;
      const ms = await startBare(runtimeDirectory(), join(folder, String(count)), { code: handler(text), text });
      process.stderr.write(`bare start ${ms.toFixed(0)} ms\n`);
      return ms;
    },
  });
  process.stdout.write(`${JSON.stringify(result)}\n`);
} finally {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
}
