/** Runs the suite of all runtimes against this one, as it is built into dist. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { describeConformance } from "@sless/runtime-conformance";
import { runtimeDirectory } from "./runtime-directory.js";

const supervisor = join(runtimeDirectory(), "supervisor.js");
if (!existsSync(supervisor)) {
  throw new Error("the runtime is not built: run `pnpm --filter @sless/runtime-nodejs20 build` first");
}

describeConformance(
  { language: "node", command: [process.execPath, supervisor] },
  { describe, it, beforeAll, afterAll },
);
