/**
 * Runs one of the repository's suites: `node packages/workspace/src/run-suite.mjs apiserver [arguments]`.
 * Builds first, hands the suite's own arguments on, and ends with its exit code.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Each suite is a program of a package that prints `N passed, N failed` as its last line. */
const SUITES = {
  apiserver: {
    about: "stories told to the embedded API server and to a real one (KUBECONFIG), compared",
    command: ["node", "packages/devcluster/dist/apiserver-suite/main.js"],
  },
  e2e: {
    about: "stories that drive the whole embedded platform from outside",
    command: ["node", "packages/workspace/src/e2e.mjs"],
  },
};

const run = ([program, ...args]) =>
  spawnSync(program, args, { cwd: ROOT, stdio: "inherit", env: process.env }).status ?? 1;

const main = ([name, ...args]) => {
  const suite = SUITES[name];
  if (!suite) {
    const known = Object.entries(SUITES).map(([key, { about }]) => `  ${key}: ${about}`);
    console.error(`no suite is named ${JSON.stringify(name ?? "")}; there are:\n${known.join("\n")}`);
    return 2;
  }
  const built = run(["pnpm", "turbo", "run", "build", "--output-logs=errors-only"]);
  return built === 0 ? run([...suite.command, ...args]) : built;
};

process.exitCode = main(process.argv.slice(2));
