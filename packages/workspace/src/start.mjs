import { spawn } from "node:child_process";
import { prepare, root } from "./bootstrap.mjs";

/** `npm start`: the whole platform on this machine, with an example deployed. Arguments go to `sless up`. */
prepare();
const child = spawn(
  process.execPath,
  [
    `${root}/apps/cli/dist/main.js`,
    "up",
    "--data-dir",
    `${root}/.sless`,
    "--example",
    "hello-node",
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
);
// Ctrl-C reaches the whole group; `sless up` ends itself in order and this process reports how.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 130 : (code ?? 1)));
