import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const SLESS_MAIN = fileURLToPath(new URL("../../../apps/cli/dist/main.js", import.meta.url));
export const EXAMPLES_DIR = fileURLToPath(new URL("../../../apps/cli/examples", import.meta.url));

export interface SlessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text on standard input, which is then closed. Default: closed at once. */
  readonly input?: string;
}

export interface SlessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** A `sless` that runs. */
export interface SlessProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly exited: Promise<SlessResult>;
}

/**
 * Starts the `sless` command as a person's shell would, with an environment of its own.
 * @throws Error when it has not been built
 */
export const startSless = (
  args: readonly string[],
  { env = {}, cwd = "/", input }: SlessOptions = {},
): SlessProcess => {
  if (!existsSync(SLESS_MAIN)) throw new Error(`${SLESS_MAIN} is missing: run pnpm build first.`);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [SLESS_MAIN, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1", ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin?.end(input);
  const exited = new Promise<SlessResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr, ms: performance.now() - startedAt }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, exited };
};
