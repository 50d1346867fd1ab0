import { resolve } from "node:path";
import type { SlessClient } from "@sless/client";
import type { Command } from "commander";
import { print, withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { runDevLoop } from "../deploy/dev-loop.js";
import { UserError } from "../errors.js";
import { followLogs } from "../logs/follow.js";
import { renderLine } from "../logs/render.js";
import { loadProject } from "../project/config.js";
import { layerEnv, type EnvValue } from "../project/env-layers.js";
import type { Terminal } from "../terminal.js";
import { envOf, projectOf, withProjectOptions, type ProjectOptions } from "./deploy.js";
import { startLocalPlatform } from "./up.js";

interface DevOptions extends ApiOptions, ProjectOptions {
  readonly timeout: number;
}

/** Says which variables there are and where each comes from, at first and whenever that has changed; never a value. */
const createEnvSpeaker = ({ progress }: Terminal): ((env: readonly EnvValue[]) => void) => {
  let said = "";
  return (env) => {
    const text = env.map(({ name, source }) => `\n  ${name} from ${source}`).join("");
    if (text !== said) progress.say(`Environment (--env over .env.local over .env over sless.yaml):${text || " none"}`);
    said = text;
  };
};

const streamLogs = async (client: SlessClient, terminal: Terminal, name: string): Promise<void> => {
  const { interrupted: signal, progress, stdout, color } = terminal;
  const since = new Date().toISOString();
  for await (const line of followLogs(client, {
    name,
    tail: 100,
    since,
    version: undefined,
    signal,
    warn: progress.warn,
  })) {
    progress.aside(() => stdout.write(`${renderLine(line, color)}\n`));
  }
};

const dev = async (terminal: Terminal, dir: string, options: DevOptions): Promise<void> => {
  const { interrupted: signal, progress } = terminal;
  const { name } = projectOf(dir, options);
  const readEnv = () => layerEnv(dir, loadProject(dir, {}).env_vars ?? {}, envOf(options));
  const sayEnv = createEnvSpeaker(terminal);
  await withClient(terminal, options, async (client) => {
    let logs: Promise<void> | undefined;
    await runDevLoop(client, dir, {
      progress,
      signal,
      makeOptions: () => {
        const layers = readEnv();
        sayEnv(layers);
        const env = Object.fromEntries(layers.map(({ name: variable, value }) => [variable, value]));
        return { project: projectOf(dir, options), env, trigger: true, timeoutSec: options.timeout, signal };
      },
      deployed: ({ url }) => {
        if (logs === undefined) {
          if (url !== undefined) print(terminal, url);
          progress.say("Watching for changes; Ctrl-C ends.");
          logs = streamLogs(client, terminal, name).catch((error: unknown) =>
            progress.warn(`the log is no longer followed: ${(error as Error).message}`),
          );
        }
      },
    });
    await logs;
  });
};

/** Uses the platform that is logged in to, or starts one on this machine for as long as this command runs. */
const withPlatform = async (terminal: Terminal, options: DevOptions, work: () => Promise<void>): Promise<void> => {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof UserError && error.exit === "loginNeeded";
    if (!isMissing || options.endpoint !== undefined) throw error;
  }
  const stop = await startLocalPlatform(terminal);
  await work().finally(stop);
};

export const addDev = (program: Command, terminal: Terminal): void => {
  const command = withProjectOptions(
    program
      .command("dev [dir]")
      .description("deploy a folder at each save and stream its log; starts a local platform if none is known"),
  ).option("--timeout <seconds>", "how long to wait until a version answers", Number, 60);
  withExamples(withEndpoint(command), ["sless dev", "sless dev examples/hello-node --env GREETING=hi"]);
  command.action((dir: string | undefined, options: DevOptions) => {
    const folder = resolve(terminal.cwd, dir ?? ".");
    return withPlatform(terminal, options, () => dev(terminal, folder, options));
  });
};
