import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { HEADERS } from "@sless/contracts";
import type { Command } from "commander";
import { withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { UserError } from "../errors.js";
import { formatDuration } from "../output/progress.js";
import { safeText } from "../output/safe-text.js";
import type { Terminal } from "../terminal.js";

interface InvokeOptions extends ApiOptions {
  readonly data?: string;
  readonly method?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type Method = (typeof METHODS)[number];

const parseMethod = (text: string): Method => {
  const method = METHODS.find((known) => known === text.toUpperCase());
  if (method === undefined)
    throw new UserError(`${text} is no method that a function can be called with: ${METHODS.join(", ")}.`, "usage");
  return method;
};

const parseHeaders = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1)
        throw new UserError(`${JSON.stringify(line)} is no header. Example: -H 'content-type: text/plain'`, "usage");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );

/** `-` reads standard input, `@file` a file, anything else is the body itself. */
const readData = async (terminal: Terminal, data: string | undefined): Promise<Buffer | undefined> => {
  if (data === undefined) return undefined;
  if (data === "-") return buffer(terminal.stdin);
  if (!data.startsWith("@")) return Buffer.from(data);
  try {
    return readFileSync(data.slice(1));
  } catch (error) {
    throw new UserError(`${data.slice(1)} can't be read: ${(error as Error).message}`, "usage");
  }
};

/** Copies an answer's bytes to standard output; on a terminal text is made safe first. */
const copyBody = async (terminal: Terminal, body: Readable): Promise<void> => {
  let last = "";
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const text = terminal.stdout.isTTY === true ? safeText(chunk.toString("utf8")) : chunk;
    terminal.stdout.write(text);
    last = typeof text === "string" ? text : "";
  }
  if (last !== "" && !last.endsWith("\n")) terminal.stdout.write("\n");
};

const headerText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : (value ?? "");

export const addInvoke = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("invoke <function> [path]")
    .description("call a function and print its answer")
    .option("-d, --data <body>", "body: text, @file, or - for standard input")
    .option("-X, --method <method>", "HTTP method (default: POST with a body, else GET)")
    .option("-H, --header <line>", "request header, may be repeated", (line: string, all: readonly string[] = []) => [
      ...all,
      line,
    ])
    .option("-i, --include", "print the answer's status and headers on standard error");
  withExamples(withEndpoint(command), [
    "sless invoke hello",
    "sless invoke hello '/greet?name=Ada'",
    `echo '{"n": 1}' | sless invoke hello -d - -H 'content-type: application/json'`,
  ]);
  command.action(async (name: string, path: string | undefined, options: InvokeOptions) => {
    const body = await readData(terminal, options.data);
    const method = parseMethod(options.method ?? (body === undefined ? "GET" : "POST"));
    const headers = parseHeaders(options.header ?? []);
    const target = path === undefined || path.startsWith("/") || path.startsWith("?") ? (path ?? "") : `/${path}`;
    await withClient(terminal, options, async ({ functions }) => {
      const started = performance.now();
      const answer = await functions.invoke(name, {
        method,
        path: target,
        headers,
        ...(body && { body }),
        signal: terminal.interrupted,
      });
      if (options.include === true) {
        terminal.progress.say(`HTTP ${answer.statusCode} (${formatDuration(performance.now() - started)})`);
        for (const [header, value] of Object.entries(answer.headers))
          terminal.progress.say(safeText(`${header}: ${headerText(value)}`));
      }
      await copyBody(terminal, answer.body);
      const fault = headerText(answer.headers[HEADERS.fault]);
      const source = headerText(answer.headers[HEADERS.faultSource]);
      const id = headerText(answer.headers[HEADERS.requestId]);
      if (fault === "unmatched") throw new UserError(`There is no function ${name}. Those that there are: sless ls`);
      if (fault !== "") {
        const whose = source === "platform" ? "the platform could not run the call" : "the function failed";
        throw new UserError(
          `${whose}: ${safeText(fault)} (request ${id}). Its log: sless logs ${name}`,
          source === "platform" ? "failed" : "functionFailed",
        );
      }
      if (answer.statusCode >= 400)
        throw new UserError(`${name} answered ${answer.statusCode} (request ${id}).`, "functionFailed");
    });
  });
};
