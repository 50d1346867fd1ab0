import type { Command } from "commander";
import { print, withClient, withEndpoint, withExamples, type ApiOptions } from "../command.js";
import { deploy } from "../deploy/deploy.js";
import { UserError } from "../errors.js";
import { loadProject, type Project } from "../project/config.js";
import { parseAssignments, readEnvFile } from "../project/env-file.js";
import type { Terminal } from "../terminal.js";

export interface ProjectOptions {
  readonly name?: string;
  readonly runtime?: string;
  readonly entrypoint?: string;
  readonly memory?: number;
  readonly timeLimit?: number;
  readonly env?: readonly string[];
  readonly envFile?: string;
}

interface DeployCommandOptions extends ApiOptions, ProjectOptions {
  readonly trigger: boolean;
  readonly timeout: number;
}

const parseNumber = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new UserError(`${JSON.stringify(text)} is no whole number.`, "usage");
  return value;
};

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

/** The flags that say what a folder's function is; they win over its `sless.yaml`. */
export const withProjectOptions = (command: Command): Command =>
  command
    .option("--name <name>", "name of the function (default: from sless.yaml, then the folder's name)")
    .option("--runtime <runtime>", "runtime (default: what the files show)")
    .option("--entrypoint <file.export>", "handler (default: what the files show)")
    .option("--memory <MiB>", "memory of one instance", parseNumber)
    .option("--time-limit <seconds>", "longest time of one call", parseNumber)
    .option("-e, --env <NAME=value>", "environment variable, may be repeated", collect)
    .option("--env-file <file>", "environment variables from a .env file; --env wins");

export const projectOf = (folder: string, options: ProjectOptions): Project =>
  loadProject(folder, {
    name: options.name,
    runtime: options.runtime,
    entrypoint: options.entrypoint,
    memory_mb: options.memory,
    timeout_sec: options.timeLimit,
  });

export const envOf = (options: ProjectOptions): Record<string, string> => ({
  ...(options.envFile === undefined ? {} : readEnvFile(options.envFile)),
  ...parseAssignments(options.env ?? []),
});

export const addDeploy = (program: Command, terminal: Terminal): void => {
  const command = withProjectOptions(
    program.command("deploy [dir]").description("bring a folder to the platform and print its URL"),
  )
    .option("--no-trigger", "give the function no URL of its own")
    .option("--timeout <seconds>", "how long to wait until it answers", parseNumber, 120);
  withExamples(withEndpoint(command), [
    "sless deploy",
    "sless deploy examples/hello-node --env GREETING=hi",
    'curl "$(sless deploy)"',
  ]);
  command.action(async (dir: string | undefined, options: DeployCommandOptions) => {
    const project = projectOf(dir ?? ".", options);
    const { url } = await withClient(terminal, options, (client) =>
      deploy(
        client,
        {
          project,
          env: envOf(options),
          trigger: options.trigger,
          timeoutSec: options.timeout,
          signal: terminal.interrupted,
        },
        terminal.progress,
      ),
    );
    if (url !== undefined) print(terminal, url);
  });
};
