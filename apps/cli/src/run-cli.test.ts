import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "@jest/globals";
import { makeProblem, type Problem } from "@sless/contracts";
import { writeCredentials } from "./login/credentials.js";
import { runCli } from "./run-cli.js";
import { openTerminal } from "./terminal.js";

let server: Server | undefined;
afterEach(() => void server?.close());

/** Runs a command line against an API that gives one answer to everything. */
const slessAgainst = async (answer: RequestListener, ...argv: string[]): Promise<{ code: number; said: string }> => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { HOME: "/nowhere", SLESS_TOKEN: "token", SLESS_ENDPOINT: endpoint };
  const interrupted = new AbortController().signal;
  const code = await runCli(argv, openTerminal({ stdin, stdout, stderr, env, cwd: "/", interrupted }));
  stderr.end();
  return { code, said: await text(stderr) };
};

const refuse =
  (problem: Problem, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(problem.status, { "content-type": "application/problem+json", ...headers });
    response.end(JSON.stringify(problem));
  };

describe("an error of the API", () => {
  it("is told once, when one field is wrong", async () => {
    const errors = [{ pointer: "/memory_mb", message: "must be at least 64" }];
    const problem = makeProblem("invalid-request", "/memory_mb must be at least 64.", "id-1", { errors });
    const { code, said } = await slessAgainst(refuse(problem), "describe", "hello");
    expect([code, said]).toEqual([1, "sless: /memory_mb must be at least 64.\n"]);
  });

  it("names the request when the fault is the platform's", async () => {
    const problem = makeProblem("internal", "It broke.", "id-2");
    const { said } = await slessAgainst(refuse(problem), "describe", "hello");
    expect(said).toBe("sless: It broke.\n  (request id-2)\n");
  });

  it("says of a call to no function that there is none", async () => {
    const problem = makeProblem("not-found", "There is no function hello.", "id-3", { reason: "unmatched" });
    const answer = refuse(problem, { "x-sless-fault": "unmatched", "x-sless-fault-source": "platform" });
    const { code, said } = await slessAgainst(answer, "invoke", "hello");
    expect([code, said]).toEqual([1, "sless: There is no function hello. Those that there are: sless ls\n"]);
  });
});

describe("help", () => {
  it("C2: of exit-codes lists them", async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const interrupted = new AbortController().signal;
    await runCli(["help", "exit-codes"], openTerminal({ stdin, stdout, stderr, env: {}, cwd: "/", interrupted }));
    stdout.end();
    expect(await text(stdout)).toMatch(/130 {2}Ctrl-C/);
  });
});

it("says how to start the platform of this machine when it does not run", async () => {
  const home = mkdtempSync(join(tmpdir(), "sless-home-"));
  try {
    const tokenFile = join(home, "data/token");
    mkdirSync(join(home, "data"));
    writeFileSync(tokenFile, "token");
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const interrupted = new AbortController().signal;
    const terminal = openTerminal({ stdin, stdout, stderr, env: { HOME: home }, cwd: home, interrupted });
    const endpoint = "http://127.0.0.1:1";
    writeCredentials(terminal.credentialsFile, { current: "local", logins: { local: { endpoint, tokenFile } } });
    expect(await runCli(["ls"], terminal)).toBe(1);
    stderr.end();
    expect(await text(stderr)).toContain(`does not run. Start it with: sless up --data-dir ${join(home, "data")}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
