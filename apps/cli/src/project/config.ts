import { readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { FunctionSettings, Name } from "@sless/contracts";
import { parse } from "yaml";
import { z } from "zod";
import { UserError } from "../errors.js";
import { detectProject } from "./detect.js";

export const PROJECT_FILE = "sless.yaml";

const settings = FunctionSettings.shape;

/** `sless.yaml`: every setting may be left out. Unknown keys are refused, so that a typo is seen. */
const ProjectFile = z.strictObject({
  name: Name.optional(),
  runtime: settings.runtime.optional(),
  entrypoint: settings.entrypoint.optional(),
  memory_mb: settings.memory_mb.unwrap().optional(),
  timeout_sec: settings.timeout_sec.unwrap().optional(),
  env_vars: settings.env_vars.unwrap().optional(),
  scale: settings.scale.unwrap().optional(),
  keep_versions: settings.keep_versions.unwrap().optional(),
});
export type ProjectFile = z.infer<typeof ProjectFile>;

/** What a deploy needs to know of a folder. */
export interface Project extends Omit<ProjectFile, "name" | "runtime" | "entrypoint"> {
  readonly dir: string;
  readonly name: string;
  readonly runtime: string;
  readonly entrypoint: string;
}

const readProjectFile = (dir: string): ProjectFile => {
  const file = join(dir, PROJECT_FILE);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return {};
  }
  const parsed = ProjectFile.safeParse(parseYaml(text, file) ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `  ${path.join(".") || "(file)"}: ${message}`);
  throw new UserError(`${file} can't be used:\n${problems.join("\n")}`, "usage");
};

const parseYaml = (text: string, file: string): unknown => {
  try {
    return parse(text);
  } catch (error) {
    throw new UserError(`${file} is no YAML: ${(error as Error).message}`, "usage");
  }
};

/** A folder's name as a function's name, where it can be made one. */
export const nameOfFolder = (dir: string): string | undefined => {
  const name = basename(dir)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "");
  return Name.safeParse(name).success ? name : undefined;
};

const defined = <T extends object>(object: T): Partial<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;

/**
 * Settles what a folder's function is: flags, then `sless.yaml`, then what the files themselves show.
 * @throws UserError naming what is missing and how to say it
 */
export const loadProject = (folder: string, flags: Partial<ProjectFile>): Project => {
  const dir = resolve(folder);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UserError(`${dir} is no folder.`, "usage");
  const merged: ProjectFile = { ...detectProject(dir), ...readProjectFile(dir), ...defined(flags) };
  const name = merged.name ?? nameOfFolder(dir);
  if (name === undefined)
    throw new UserError(`${basename(dir)}, the folder's name, is no function name. Give one with --name.`, "usage");
  const { runtime, entrypoint } = merged;
  if (runtime === undefined || entrypoint === undefined) {
    throw new UserError(
      `No handler was found in ${dir}: neither an index.js that exports \`handler\` nor a main.py that defines it (or both).\n` +
        `Say what to run, for example: sless deploy --runtime nodejs20 --entrypoint index.handler`,
      "usage",
    );
  }
  return { ...merged, name, runtime, entrypoint, dir };
};
