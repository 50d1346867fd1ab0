import { createClient, type SlessClient } from "@sless/client";
import { Option, type Command } from "commander";
import { UserError } from "./errors.js";
import { openSession, type Session } from "./login/session.js";
import { format, OUTPUT_FORMATS, type Formatting, type OutputOptions } from "./output/format.js";
import type { Terminal } from "./terminal.js";

/** Options that every command which talks to an API has. */
export interface ApiOptions {
  readonly endpoint?: string;
}

/** The version that `sless version` prints and that is sent along with each request. */
export const CLI_VERSION = "0.1.0";

export const withEndpoint = (command: Command): Command =>
  command.addOption(new Option("--endpoint <url>", "API to talk to (default: SLESS_ENDPOINT, then the current login)"));

export const withOutput = (command: Command): Command =>
  command
    .addOption(new Option("-o, --output <format>", "how to print").choices(OUTPUT_FORMATS).default("table"))
    .option("--jq <program>", "filter the JSON by a jq program");

/** Adds examples at the end of a command's help, one a line. */
export const withExamples = (command: Command, examples: readonly string[]): Command =>
  command.addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`);

export const sessionOf = (terminal: Terminal, { endpoint }: ApiOptions): Session =>
  openSession({ endpoint, env: terminal.env, credentialsFile: terminal.credentialsFile });

/** True when nothing listens at the endpoint. */
const isRefused = (error: unknown): boolean =>
  [error, (error as Error).cause].some((one) => (one as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED");

/** Runs work with a client of the chosen API and closes its connections afterwards. */
export const withClient = async <T>(
  terminal: Terminal,
  options: ApiOptions,
  work: (client: SlessClient, session: Session) => Promise<T>,
): Promise<T> => {
  const session = sessionOf(terminal, options);
  const client = createClient({ ...session, userAgent: `sless/${CLI_VERSION}` });
  try {
    return await work(client, session);
  } catch (error) {
    if (session.dataDir === undefined || !isRefused(error)) throw error;
    throw new UserError(
      `The platform of this machine (${session.endpoint}) does not run. Start it with: sless up --data-dir ${session.dataDir}`,
    );
  } finally {
    await client.close();
  }
};

/** Writes a result to standard output with a final line feed. */
export const print = (terminal: Terminal, text: string): void => {
  if (text !== "") terminal.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

export const printFormatted = async <T>(
  terminal: Terminal,
  data: { readonly list: readonly T[] } | { readonly item: T },
  formatting: Formatting<T>,
  options: OutputOptions,
): Promise<void> => print(terminal, await format(data, formatting, options));
