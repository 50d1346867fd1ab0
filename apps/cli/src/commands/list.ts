import type { Command } from "commander";
import { printFormatted, withClient, withEndpoint, withExamples, withOutput, type ApiOptions } from "../command.js";
import type { OutputOptions } from "../output/format.js";
import type { Terminal } from "../terminal.js";
import { functionFormatting } from "./functions-table.js";

export const addList = (program: Command, terminal: Terminal): void => {
  const command = program.command("ls").alias("list").description("list functions");
  withExamples(withOutput(withEndpoint(command)), [
    "sless ls",
    "sless ls -o json | jq '.items[].name'",
    "sless ls -o name | xargs -n1 sless logs",
  ]);
  command.action(async (options: ApiOptions & OutputOptions) => {
    const list = await withClient(terminal, options, async ({ functions }) => {
      const found = [];
      for await (const fn of functions.all(terminal.interrupted)) found.push(fn);
      return found;
    });
    if (list.length === 0) terminal.progress.say("There are no functions yet. Deploy one with: sless deploy");
    if (list.length > 0 || (options.output ?? "table") !== "table") {
      await printFormatted(terminal, { list }, functionFormatting(Date.now()), options);
    }
  });
};
