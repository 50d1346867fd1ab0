import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A runtime that this machine offers: what goes into its base image. */
export interface LocalRuntime {
  readonly name: string;
  readonly family: "nodejs" | "python";
  /** Folder whose files become the runtime's. */
  readonly files: string;
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Why its functions can't run here. */
  readonly unavailable?: string;
}

const PYTHON = "3.11";

/** Version of a program as it prints it, or undefined where there is none. */
const versionOf = async (program: string, path: string): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { env: { PATH: path }, timeout: 10_000 });
    return stdout.trim();
  } catch {
    return undefined;
  }
};

/** Why Python functions can't run on this machine; undefined when they can. */
export const pythonUnavailable = async (path: string): Promise<string | undefined> => {
  const version = await versionOf(`python${PYTHON}`, path);
  if (version?.startsWith(`Python ${PYTHON}.`) === true) return undefined;
  return `Python ${PYTHON} is not on this machine: install it so that \`python${PYTHON} --version\` works, and start again`;
};
