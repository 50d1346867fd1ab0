import { compare } from "@sless/runtime-conformance/bench";
import { findPython, startFlask, startRuntime } from "./servers.js";

const name = "runtime-python-vs-flask";
const python = findPython();
if (python === undefined) {
  process.stdout.write(`${JSON.stringify({ name, skipped: "Python 3.11 is not on this machine" })}\n`);
} else {
  await compare({
    name,
    against: "gunicorn with Flask and its defaults, in requests per CPU-second",
    goal: 5,
    runs: 10,
    requests: { ours: 8_000, theirs: 2_500 },
    ours: () => startRuntime(python),
    theirs: () => startFlask(python),
  });
}
