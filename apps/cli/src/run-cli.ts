import { ApiError, EndpointError } from "@sless/client";
import { Command, CommanderError } from "commander";
import { CLI_VERSION, print } from "./command.js";
import { addDelete } from "./commands/delete.js";
import { addDeploy } from "./commands/deploy.js";
import { addCompletion } from "./commands/completion.js";
import { addDescribe } from "./commands/describe.js";
import { addDev } from "./commands/dev.js";
import { addInit } from "./commands/init.js";
import { addInvoke } from "./commands/invoke.js";
import { addList } from "./commands/list.js";
import { addLogin } from "./commands/login.js";
import { addLogs } from "./commands/logs.js";
import { addRollback } from "./commands/rollback.js";
import { addUp } from "./commands/up.js";
import { addVersions } from "./commands/versions.js";
import { EXIT_CODES, UserError, type ExitName } from "./errors.js";
import { safeText } from "./output/safe-text.js";
import type { Terminal } from "./terminal.js";

const exitCodesText = (): string =>
  [
    "Exit codes:",
    ...Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`),
  ].join("\n");

const addAll = (program: Command, terminal: Terminal): void => {
  for (const add of [
    addUp,
    addInit,
    addDeploy,
    addDev,
    addInvoke,
    addList,
    addDescribe,
    addVersions,
    addRollback,
    addLogs,
    addDelete,
    addLogin,
    addCompletion,
  ]) {
    add(program, terminal);
  }
  program
    .command("exit-codes")
    .description("list what the exit codes mean")
    .addHelpText("after", () => `\n${exitCodesText()}`)
    .action(() => print(terminal, exitCodesText()));
};

/** Commands and options as commander reads them; it throws instead of ending the process. */
const createProgram = (terminal: Terminal): Command => {
  const program = new Command("sless")
    .description("Serverless functions on Kubernetes, or on this machine with `sless up`.")
    .version(CLI_VERSION, "--version", "print the version")
    .showSuggestionAfterError(true)
    .showHelpAfterError("(run with --help for usage)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    });
  addAll(program, terminal);
  for (const command of program.commands) command.exitOverride();
  return program;
};

const exitOf = (error: unknown, terminal: Terminal): ExitName => {
  if (terminal.interrupted.aborted) return "interrupted";
  if (error instanceof UserError) return error.exit;
  if (error instanceof CommanderError) return error.exitCode === 0 ? "ok" : "usage";
  if (error instanceof ApiError && error.status === 401) return "loginNeeded";
  return "failed";
};

/** From here on the mistake is the platform's: whoever looks into it needs the request's id. */
const FIRST_FAULT_STATUS = 500;

const isExpected = (error: unknown): error is Error =>
  error instanceof UserError || error instanceof ApiError || error instanceof EndpointError;

const report = (error: unknown, terminal: Terminal): void => {
  if (error instanceof CommanderError || terminal.interrupted.aborted) return;
  if (!isExpected(error)) {
    terminal.stderr.write(`sless: an unexpected fault: ${error instanceof Error ? error.stack : String(error)}\n`);
    return;
  }
  terminal.stderr.write(`sless: ${safeText(error.message)}\n`);
  if (error instanceof ApiError) {
    // A single one is what the message says already.
    const errors = error.problem.errors ?? [];
    for (const { pointer, message } of errors.length > 1 ? errors : [])
      terminal.stderr.write(`  ${safeText(pointer)}: ${safeText(message)}\n`);
    if (error.status >= FIRST_FAULT_STATUS) terminal.stderr.write(`  (request ${safeText(error.requestId)})\n`);
  }
};

/**
 * Runs one command line.
 * @param argv arguments without program and script
 * @returns the exit code, as `sless exit-codes` lists them
 */
export const runCli = async (argv: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await createProgram(terminal).parseAsync(argv, { from: "user" });
    return EXIT_CODES.ok.code;
  } catch (error) {
    report(error, terminal);
    return EXIT_CODES[exitOf(error, terminal)].code;
  }
};
