import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createProgress, type Progress } from "./output/progress.js";

/** Everything of the outside world that a command may use. */
export interface Terminal {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly progress: Progress;
  /** Aborts on Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly color: boolean;
  readonly credentialsFile: string;
  /** Where `sless up` keeps its data unless told otherwise. */
  readonly defaultDataDir: string;
}

export type TerminalInput = Pick<Terminal, "stdin" | "stdout" | "stderr" | "env" | "cwd" | "interrupted">;

const fromXdg = (env: NodeJS.ProcessEnv, name: string, fallback: string): string => {
  const base = env[name];
  return join(base !== undefined && base !== "" ? base : join(env["HOME"] ?? homedir(), fallback), "sless");
};

/** https://no-color.org: any value but an empty one turns color off. */
const wantsColor = (env: NodeJS.ProcessEnv, isTerminal: boolean): boolean =>
  isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";

/** Derives what depends on environment and streams alone. Folders follow the XDG base directory specification. */
export const openTerminal = (input: TerminalInput): Terminal => {
  const color = wantsColor(input.env, input.stderr.isTTY === true);
  return {
    ...input,
    color,
    progress: createProgress({ stream: input.stderr, color }),
    credentialsFile: join(fromXdg(input.env, "XDG_CONFIG_HOME", ".config"), "credentials.json"),
    defaultDataDir: fromXdg(input.env, "XDG_DATA_HOME", ".local/share"),
  };
};
