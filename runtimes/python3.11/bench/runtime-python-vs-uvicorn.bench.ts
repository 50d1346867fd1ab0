import { compareRuntime } from "./compare-runtime.js";
import { startUvicorn } from "./servers.js";

await compareRuntime(
  {
    name: "runtime-python-vs-uvicorn",
    against: "bare uvicorn, in requests per CPU-second",
    goal: 0.6,
    runs: 10,
    requests: { ours: 6_000, theirs: 4_000 },
  },
  startUvicorn,
);
