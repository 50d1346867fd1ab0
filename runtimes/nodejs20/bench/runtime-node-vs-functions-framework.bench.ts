import { compare } from "@sless/runtime-conformance/bench";
import { startFunctionsFramework, startRuntime } from "./servers.js";

await compare({
  name: "runtime-node-vs-functions-framework",
  against: "@google-cloud/functions-framework 5.0.5, in requests per CPU-second",
  goal: 8,
  runs: 8,
  requests: { ours: 15_000, theirs: 3_000 },
  ours: startRuntime,
  theirs: startFunctionsFramework,
});
