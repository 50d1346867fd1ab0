import { compare } from "@sless/runtime-conformance/bench";
import { startBareHttp, startRuntime } from "./servers.js";

await compare({
  name: "runtime-node-vs-http",
  against: "a bare node:http server, in requests per CPU-second",
  goal: 0.75,
  runs: 12,
  requests: { ours: 15_000, theirs: 15_000 },
  ours: startRuntime,
  theirs: startBareHttp,
});
