import type { Command } from "commander";
import { printFormatted, withClient, withEndpoint, withExamples, withOutput, type ApiOptions } from "../command.js";
import type { OutputOptions } from "../output/format.js";
import type { Terminal } from "../terminal.js";
import { versionFormatting } from "./functions-table.js";

export const addVersions = (program: Command, terminal: Terminal): void => {
  const command = program.command("versions <function>").description("list a function's versions, the newest first");
  withExamples(withOutput(withEndpoint(command)), ["sless versions hello", "sless versions hello -o wide"]);
  command.action(async (name: string, options: ApiOptions & OutputOptions) => {
    const list = await withClient(terminal, options, ({ functions }) => functions.versions(name, terminal.interrupted));
    await printFormatted(terminal, { list }, versionFormatting(Date.now()), options);
  });
};
