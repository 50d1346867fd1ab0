import { request } from "node:http";
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createClient } from "@sless/client";
import type { Command } from "commander";
import { print, withExamples } from "../command.js";
import { deploy } from "../deploy/deploy.js";
import { UserError } from "../errors.js";
import { saveLocalLogin } from "../login/local-login.js";
import type { Platform, PlatformOptions } from "../platform/platform.js";
import { openPlatformState } from "../platform/state.js";
import { loadProject } from "../project/config.js";
import type { Terminal } from "../terminal.js";
import { EXAMPLES_DIR } from "./init.js";

interface UpOptions {
  readonly dataDir?: string;
  readonly apiPort?: number;
  readonly port?: number;
  readonly example?: string;
  readonly once?: boolean;
}

const DEPLOY_TIMEOUT_SEC = 120;
const CALL_TIMEOUT_MS = 30_000;
const STOP_POLL_MS = 50;
const STOP_TIMEOUT_MS = 30_000;

/** GETs a function's URL on this machine, whether or not its resolver knows names below `localhost`. */
const callLocally = (url: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const { host, port, pathname, search } = new URL(url);
    const call = request({
      host: "127.0.0.1",
      port,
      path: pathname + search,
      headers: { host },
      signal,
      timeout: CALL_TIMEOUT_MS,
    });
    call.once("error", reject);
    call.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new UserError(`${url} answered ${response.statusCode}: ${text.slice(0, 500)}`));
      });
    });
    call.end();
  });

/** Deploys an example from its folder and calls it through its trigger; prints the answer. */
const runExample = async (terminal: Terminal, platform: Platform, example: string): Promise<string> => {
  const { progress, interrupted: signal } = terminal;
  const dir = join(EXAMPLES_DIR, example);
  if (!existsSync(dir)) throw new UserError(`There is no example ${example}.`, "usage");
  const client = createClient({ endpoint: platform.endpoint, token: () => readToken(platform) });
  try {
    progress.say(`\nDeploying ${example}:`);
    const { url } = await deploy(
      client,
      { project: loadProject(dir, {}), env: {}, trigger: true, timeoutSec: DEPLOY_TIMEOUT_SEC, signal },
      progress,
    );
    if (url === undefined) throw new UserError(`${example} has no URL.`);
    const answer = await progress.step(`GET ${url}`, () => callLocally(url, signal));
    print(terminal, answer);
    return url;
  } finally {
    await client.close();
  }
};

/** Loaded only here: the platform's packages would double the time that every other command takes to start. */
const startPlatform = async (options: PlatformOptions): Promise<Platform> =>
  (await import("../platform/platform.js")).startPlatform(options);

const readToken = async ({ tokenFile }: Platform): Promise<string> =>
  (await import("node:fs/promises")).readFile(tokenFile, "utf8");

const nextSteps = (platform: Platform, dataDir: string, url: string | undefined): string =>
  [
    "",
    `The platform runs. API: ${platform.endpoint}, functions: http://<function>-<you>.fn.localhost:${platform.gatewayPort}`,
    "It is for development: functions are plain processes of this machine, not isolated from it or from each other.",
    "",
    "Try next, in another terminal:",
    ...(url === undefined ? [] : [`  curl ${url}`, "  sless logs hello-node -f"]),
    "  sless init my-function && sless deploy my-function",
    "  sless ls",
    `  kubectl --kubeconfig ${platform.kubeconfig} get sless -A`,
    "",
    `Data and logs: ${dataDir}. Ctrl-C ends everything; functions come back at the next start.`,
  ].join("\n");

const untilInterrupted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );

/**
 * Starts the platform with its usual data folder and makes it the current login.
 * @returns ends it
 */
export const startLocalPlatform = async (terminal: Terminal): Promise<() => Promise<void>> => {
  terminal.progress.say("No platform is known: starting one on this machine.");
  const platform = await startPlatform({
    dataDir: terminal.defaultDataDir,
    path: terminal.env["PATH"] ?? "",
    progress: terminal.progress,
  });
  const { endpoint, tokenFile } = platform;
  const restoreLogin = saveLocalLogin(terminal.credentialsFile, { endpoint, tokenFile });
  return () => {
    restoreLogin();
    return platform.stop();
  };
};

const up = async (terminal: Terminal, options: UpOptions): Promise<void> => {
  const dataDir = resolve(terminal.cwd, options.dataDir ?? terminal.defaultDataDir);
  const running = openPlatformState(dataDir).running();
  if (running !== undefined && isAlive(running.pid)) {
    throw new UserError(
      `A platform runs there already (process ${running.pid}, ${running.endpoint}). End it with: sless down --data-dir ${dataDir}`,
    );
  }
  terminal.progress.say("Starting sless on this machine:");
  const platform = await startPlatform({
    dataDir,
    path: terminal.env["PATH"] ?? "",
    progress: terminal.progress,
    ...(options.apiPort === undefined ? {} : { apiPort: options.apiPort }),
    ...(options.port === undefined ? {} : { gatewayPort: options.port }),
  });
  const { endpoint, tokenFile } = platform;
  const restoreLogin = saveLocalLogin(terminal.credentialsFile, { endpoint, tokenFile });
  try {
    const url = options.example === undefined ? undefined : await runExample(terminal, platform, options.example);
    if (options.once === true) return;
    terminal.progress.say(nextSteps(platform, dataDir, url));
    await untilInterrupted(terminal.interrupted);
  } finally {
    restoreLogin();
    await terminal.progress.step("stopped", () => platform.stop());
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const down = async (terminal: Terminal, options: { dataDir?: string; purge?: boolean }): Promise<void> => {
  const dataDir = resolve(terminal.cwd, options.dataDir ?? terminal.defaultDataDir);
  const running = existsSync(dataDir) ? openPlatformState(dataDir).running() : undefined;
  if (running !== undefined && isAlive(running.pid)) {
    await terminal.progress.step(`stopping process ${running.pid}`, async () => {
      process.kill(running.pid, "SIGTERM");
      const deadline = performance.now() + STOP_TIMEOUT_MS;
      while (isAlive(running.pid)) {
        if (performance.now() > deadline)
          throw new UserError(`Process ${running.pid} did not end within ${STOP_TIMEOUT_MS / 1000} s.`);
        await new Promise((done) => setTimeout(done, STOP_POLL_MS));
      }
    });
  } else terminal.progress.say(`No platform runs in ${dataDir}.`);
  if (options.purge === true) {
    rmSync(dataDir, { recursive: true, force: true });
    terminal.progress.say(`Removed ${dataDir}.`);
  }
};

const portNumber = (text: string): number => {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UserError(`${JSON.stringify(text)} is no port.`, "usage");
  return port;
};

export const addUp = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("up")
    .description("run the whole platform on this machine, without Kubernetes or Docker")
    .option("--data-dir <dir>", "where its data lies (default: the XDG data folder)")
    .option("--api-port <port>", "port of the API", portNumber)
    .option("--port <port>", "port of functions' URLs", portNumber)
    .option("--example <name>", "deploy and call an example")
    .option("--once", "end after the example has answered");
  withExamples(command, ["sless up", "sless up --example hello-python --once"]).action((options: UpOptions) =>
    up(terminal, options),
  );

  const stop = program
    .command("down")
    .description("end the platform that runs on this machine")
    .option("--data-dir <dir>", "where its data lies (default: the XDG data folder)")
    .option("--purge", "remove its data too");
  withExamples(stop, ["sless down", "sless down --purge"]).action((options: { dataDir?: string; purge?: boolean }) =>
    down(terminal, options),
  );
};
