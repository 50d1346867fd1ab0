import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { print, withExamples } from "../command.js";
import { UserError } from "../errors.js";
import type { Terminal } from "../terminal.js";

/** The examples double as templates: both are run by tests. */
export const EXAMPLES_DIR = fileURLToPath(new URL("../../examples/", import.meta.url));

const templates = (): string[] => readdirSync(EXAMPLES_DIR).sort();

interface InitOptions {
  readonly template: string;
}

export const addInit = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("init [dir]")
    .description("start a function from a template")
    .option("-t, --template <name>", `one of ${templates().join(", ")}`, "hello-node");
  withExamples(command, ["sless init my-function", "sless init --template hello-python greeter"]);
  command.action((dir: string | undefined, { template }: InitOptions) => {
    if (!templates().includes(template))
      throw new UserError(`There is no template ${template}. There are: ${templates().join(", ")}.`, "usage");
    const target = resolve(terminal.cwd, dir ?? template);
    if (existsSync(target) && readdirSync(target).length > 0)
      throw new UserError(`${target} is not empty. Name another folder.`);
    mkdirSync(target, { recursive: true });
    cpSync(join(EXAMPLES_DIR, template), target, { recursive: true });
    terminal.progress.say(
      `Made ${basename(target)} from ${template}. Next:\n  cd ${dir ?? template}\n  sless dev        # run it here, at each save anew\n  sless deploy     # bring it to the platform`,
    );
    print(terminal, target);
  });
};
