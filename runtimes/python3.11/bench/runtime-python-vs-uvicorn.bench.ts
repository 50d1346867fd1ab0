import { compare } from "@sless/runtime-conformance/bench";
import { findPython, startRuntime, startUvicorn } from "./servers.js";

const name = "runtime-python-vs-uvicorn";
const python = findPython();
if (python === undefined) {
  process.stdout.write(`${JSON.stringify({ name, skipped: "Python 3.11 is not on this machine" })}\n`);
} else {
  await compare({
    name,
    against: "bare uvicorn, in requests per CPU-second",
    goal: 0.6,
    runs: 10,
    requests: { ours: 6_000, theirs: 4_000 },
    ours: () => startRuntime(python),
    theirs: () => startUvicorn(python),
  });
}
