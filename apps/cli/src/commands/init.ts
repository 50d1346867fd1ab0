import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { print, withExamples } from "../command.js";
import { UserError } from "../errors.js";
import { nameOfFolder, PROJECT_FILE } from "../project/config.js";
import type { Terminal } from "../terminal.js";

/** The examples double as templates: both are run by tests. */
export const EXAMPLES_DIR = fileURLToPath(new URL("../../examples/", import.meta.url));

const templates = (): string[] => readdirSync(EXAMPLES_DIR).sort();

/** A path as a shell takes it for one word. */
const quoted = (path: string): string => (/^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

interface InitOptions {
  readonly template: string;
}

/** The files of a template that name its function. */
const NAMED_IN = [PROJECT_FILE, "package.json"];

/** Copies a template and calls the function by the folder's name: `sless logs my-function` follows `sless init my-function`. */
const copyTemplate = (template: string, target: string, name: string): void => {
  mkdirSync(target, { recursive: true });
  cpSync(join(EXAMPLES_DIR, template), target, { recursive: true });
  for (const file of NAMED_IN.map((named) => join(target, named)).filter((path) => existsSync(path)))
    writeFileSync(file, readFileSync(file, "utf8").replace(template, name));
};

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
    const name = nameOfFolder(target);
    if (name === undefined)
      throw new UserError(
        `${target} can't give a function its name. Name the folder with 1–40 lower-case letters, digits and dashes, starting with a letter.`,
        "usage",
      );
    copyTemplate(template, target, name);
    terminal.progress.say(
      `Made the function ${name} from ${template}. Next:\n  cd ${quoted(dir ?? template)}\n  sless dev        # run it here, at each save anew\n  sless deploy     # bring it to the platform`,
    );
    print(terminal, target);
  });
};
