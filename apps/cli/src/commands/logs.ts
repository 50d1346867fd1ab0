import type { LogLine } from "@sless/contracts";
import { Option, type Command } from "commander";
import { withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { UserError } from "../errors.js";
import { followLogs } from "../logs/follow.js";
import { renderLine } from "../logs/render.js";
import type { Terminal } from "../terminal.js";

interface LogsOptions extends ApiOptions {
  readonly follow?: boolean;
  readonly tail: number;
  readonly since?: string;
  readonly version?: number;
  readonly search?: string;
  readonly output: "text" | "json";
}

const wholeNumber = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new UserError(`${JSON.stringify(text)} is no whole number.`, "usage");
  return value;
};

const shown = (line: LogLine, { output }: LogsOptions, terminal: Terminal): string =>
  output === "json" ? JSON.stringify(line) : renderLine(line, terminal.color && terminal.stdout.isTTY === true);

export const addLogs = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("logs <function>")
    .description("show what a function and its runtime printed, the latest last")
    .option("-f, --follow", "go on with new lines until Ctrl-C")
    .option("--tail <lines>", "at most so many of the latest lines", wholeNumber, 100)
    .option("--since <when>", "only lines since then: 90s, 15m, 2h, or an RFC 3339 time")
    .option("--version <number>", "only lines of this version", wholeNumber)
    .option("--search <text>", "only lines that hold this text")
    .addOption(
      new Option("-o, --output <format>", "text, or one JSON object a line").choices(["text", "json"]).default("text"),
    );
  withExamples(withEndpoint(command), [
    "sless logs hello --since 15m",
    "sless logs hello -f --search timeout",
    "sless logs hello -o json | jq .message",
  ]);
  command.action(async (name: string, options: LogsOptions) => {
    const { tail, since, version, search } = options;
    const query = { tail, since, version };
    await withClient(terminal, options, async (client) => {
      const signal = terminal.interrupted;
      const lines = options.follow
        ? followLogs(client, { ...query, name, signal, warn: terminal.progress.warn })
        : client.functions.logs(name, {
            tail,
            signal,
            ...(since && { since }),
            ...(version !== undefined && { version }),
          });
      let count = 0;
      for await (const line of lines) {
        if (search !== undefined && !line.message.includes(search)) continue;
        count++;
        terminal.stdout.write(`${shown(line, options, terminal)}\n`);
      }
      if (count === 0 && options.follow !== true) {
        terminal.progress.say(
          `${name} has no lines in the window that was searched (${since === undefined ? `the latest ${tail} lines` : `since ${since}`}).`,
        );
      }
    });
  });
};
