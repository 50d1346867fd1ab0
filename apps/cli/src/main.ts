#!/usr/bin/env node
import { runCli } from "./run-cli.js";
import { openTerminal } from "./terminal.js";

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second signal means that the person does not want to wait for an orderly end.
    if (interruption.signal.aborted) process.exit(130);
    interruption.abort();
  });
}
// Whoever reads our output may stop doing so, as `head` does: that is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const { stdin, stdout, stderr, env } = process;
const terminal = openTerminal({ stdin, stdout, stderr, env, cwd: process.cwd(), interrupted: interruption.signal });
const code = await runCli(process.argv.slice(2), terminal);
stdout.write("", () => process.exit(code));
