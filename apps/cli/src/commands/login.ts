import { text as readText } from "node:stream/consumers";
import { createClient, parseEndpoint } from "@sless/client";
import type { Command } from "commander";
import {
  print,
  printFormatted,
  sessionOf,
  withClient,
  withEndpoint,
  withExamples,
  withOutput,
  type ApiOptions,
} from "../command.js";
import { UserError } from "../errors.js";
import { readCredentials, writeCredentials } from "../login/credentials.js";
import type { OutputOptions } from "../output/format.js";
import type { Terminal } from "../terminal.js";

interface LoginOptions {
  readonly endpoint: string;
  readonly withToken?: boolean;
  readonly name?: string;
}

const readToken = async (terminal: Terminal): Promise<string> => {
  if (terminal.stdin.isTTY === true) terminal.progress.say("Paste the token, then press Enter and Ctrl-D:");
  const token = (await readText(terminal.stdin)).trim();
  if (token === "") throw new UserError("No token came on standard input.", "usage");
  return token;
};

const addLoginCommand = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("login")
    .description("save a token for an API")
    .requiredOption("--endpoint <url>", "API to log in to")
    .option("--with-token", "read the token from standard input (the default)")
    .option("--name <name>", "what to call this login (default: the API's host)");
  withExamples(command, ["sless login --endpoint https://api.example.com < token.txt"]);
  command.action(async (options: LoginOptions) => {
    const endpoint = parseEndpoint(options.endpoint);
    const token = await readToken(terminal);
    const client = createClient({ endpoint, token: () => token });
    const who = await client.whoami(terminal.interrupted).finally(() => client.close());
    const name = options.name ?? new URL(endpoint).host;
    const { logins } = readCredentials(terminal.credentialsFile);
    writeCredentials(terminal.credentialsFile, { current: name, logins: { ...logins, [name]: { endpoint, token } } });
    terminal.progress.say(`Logged in to ${endpoint} as ${who.subject} (${who.namespace}).`);
  });
};

const addLogoutCommand = (program: Command, terminal: Terminal): void => {
  const command = program.command("logout [name]").description("forget a saved login (default: the current one)");
  withExamples(command, ["sless logout", "sless logout api.example.com"]);
  command.action((name: string | undefined) => {
    const { current, logins } = readCredentials(terminal.credentialsFile);
    const target = name ?? current;
    if (target === undefined || logins[target] === undefined)
      throw new UserError(`There is no login${target === undefined ? "" : ` called ${target}`}.`);
    const rest = Object.fromEntries(Object.entries(logins).filter(([other]) => other !== target));
    writeCredentials(terminal.credentialsFile, {
      logins: rest,
      ...(current !== undefined && current !== target ? { current } : {}),
    });
    terminal.progress.say(`Logged out of ${target}.`);
  });
};

const addWhoamiCommand = (program: Command, terminal: Terminal): void => {
  const command = program.command("whoami").description("show who you are, and where endpoint and token come from");
  withExamples(withOutput(withEndpoint(command)), ["sless whoami", "sless whoami --jq .namespace"]);
  command.action(async (options: ApiOptions & OutputOptions) => {
    const session = sessionOf(terminal, options);
    const who = await withClient(terminal, options, (client) => client.whoami(terminal.interrupted));
    if (options.jq !== undefined || options.output !== "table") {
      const item = {
        ...who,
        endpoint: session.endpoint,
        endpoint_source: session.endpointSource,
        token_source: session.tokenSource,
      };
      await printFormatted(terminal, { item }, { columns: [], name: ({ namespace }) => namespace }, options);
      return;
    }
    const expiry = who.expires_at === undefined ? "" : `, expires ${who.expires_at}`;
    print(
      terminal,
      [
        `${who.subject} (${who.issuer})`,
        `Namespace: ${who.namespace}${who.admin ? ", administrator" : ""}`,
        `Endpoint:  ${session.endpoint} (from ${session.endpointSource})`,
        `Token:     from ${session.tokenSource}${expiry}`,
      ].join("\n"),
    );
  });
};

export const addLogin = (program: Command, terminal: Terminal): void => {
  addLoginCommand(program, terminal);
  addLogoutCommand(program, terminal);
  addWhoamiCommand(program, terminal);
};
