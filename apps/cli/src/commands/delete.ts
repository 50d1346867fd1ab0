import { ApiError } from "@sless/client";
import type { SlessClient } from "@sless/client";
import type { Command } from "commander";
import { withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { UserError } from "../errors.js";
import type { Terminal } from "../terminal.js";
import { confirm } from "./rollback.js";

interface DeleteOptions extends ApiOptions {
  readonly yes?: boolean;
  readonly timeout: number;
}

/** Triggers of a function go with it: they would only say that it is missing. */
const deleteWithTriggers = async (
  client: SlessClient,
  name: string,
  timeout: number,
  signal: AbortSignal,
): Promise<void> => {
  for await (const trigger of client.triggers.all(signal)) {
    if (trigger.function === name) await client.triggers.delete(trigger.name, { signal });
  }
  await client.functions.delete(name, { signal });
  await client.functions.gone(name, { timeout, signal });
};

export const addDelete = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("delete <function...>")
    .alias("rm")
    .description("delete functions with their triggers, versions and images")
    .option("-y, --yes", "do not ask")
    .option("--timeout <seconds>", "how long to wait until all of it is gone", Number, 60);
  withExamples(withEndpoint(command), ["sless delete hello", "sless ls -o name | xargs sless delete --yes"]);
  command.action(async (names: string[], options: DeleteOptions) => {
    if (
      options.yes !== true &&
      !(await confirm(terminal, `Delete ${names.join(", ")}? This can't be undone.`, "--yes"))
    ) {
      throw new UserError("Nothing was deleted.");
    }
    const failed: string[] = [];
    await withClient(terminal, options, async (client) => {
      for (const name of names) {
        try {
          await terminal.progress.step(`deleting ${name}`, () =>
            deleteWithTriggers(client, name, options.timeout, terminal.interrupted),
          );
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          failed.push(`${name}: ${error.message}`);
        }
      }
    });
    if (failed.length > 0) throw new UserError(failed.join("\n"));
  });
};
