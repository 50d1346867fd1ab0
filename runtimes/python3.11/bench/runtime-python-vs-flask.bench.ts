import { compareRuntime } from "./compare-runtime.js";
import { startFlask } from "./servers.js";

await compareRuntime(
  {
    name: "runtime-python-vs-flask",
    against: "gunicorn with Flask and its defaults, in requests per CPU-second",
    goal: 5,
    runs: 10,
    requests: { ours: 8_000, theirs: 2_500 },
  },
  startFlask,
);
