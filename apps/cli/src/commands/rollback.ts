import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { print, withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { UserError } from "../errors.js";
import type { Terminal } from "../terminal.js";
import { waitReady } from "../wait-ready.js";

interface RollbackOptions extends ApiOptions {
  readonly message?: string;
  readonly yes?: boolean;
  readonly timeout: number;
}

/**
 * Asks a yes-or-no question on the terminal.
 * @throws UserError naming the flag when nobody can be asked: a command never waits for input in CI
 */
export const confirm = async (terminal: Terminal, question: string, flag: string): Promise<boolean> => {
  if (terminal.stdin.isTTY !== true)
    throw new UserError(`This needs a confirmation, and there is no terminal to ask on: pass ${flag}.`, "usage");
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `, { signal: terminal.interrupted })).trim());
  } finally {
    prompt.close();
  }
};

export const addRollback = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("rollback <function> [version]")
    .description("let an earlier version answer again, without a build")
    .option("-m, --message <why>", "reason, shown by sless versions and in the function's events")
    .option("-y, --yes", "do not ask")
    .option("--timeout <seconds>", "how long to wait", Number, 60);
  withExamples(withEndpoint(command), [
    "sless rollback hello -m 'v8 answers with 500'",
    "sless rollback hello 3 --yes",
  ]);
  command.action(async (name: string, version: string | undefined, options: RollbackOptions) => {
    const wanted = version === undefined ? undefined : Number(version.replace(/^v/, ""));
    if (wanted !== undefined && !Number.isInteger(wanted))
      throw new UserError(`${version} is no version: use its number, for example 3.`, "usage");
    await withClient(terminal, options, async (client) => {
      const target = wanted === undefined ? "the version before" : `version ${wanted}`;
      const question = `Roll ${name} back to ${target}? Secrets and data are not rolled back.`;
      if (options.yes !== true && !(await confirm(terminal, question, "--yes")))
        throw new UserError("Nothing was changed.");
      const done = await terminal.progress.step(`rolling ${name} back`, async (update) => {
        const request = {
          ...(wanted === undefined ? {} : { version: wanted }),
          ...(options.message === undefined ? {} : { reason: options.message }),
        };
        const result = await client.functions.rollback(name, request, { signal: terminal.interrupted });
        const { generation } = result.function;
        await waitReady(client, {
          name,
          generation,
          timeoutSec: options.timeout,
          signal: terminal.interrupted,
          update,
        });
        return result;
      });
      print(terminal, `${name}: v${done.from ?? "?"} → v${done.to}`);
    });
  });
};
