import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const LOCATE_TIMEOUT_MS = 5_000;
const MAX_LINES = 12;

/** A line that says where: `/function/app.js:3`, as Node prints it above the faulty line of code. */
const LOCATION = /^(?:file:\/\/)?\/.*:\d+$/;

/**
 * Node puts the place of a syntax error into `stack` for CommonJS only. For an ES module it is printed when the error
 * ends a process, so a short-lived one links the module (which runs none of its code) and its last words are read.
 */
const locateSyntaxError = (path: string): string | undefined => {
  const source = `import ${JSON.stringify(pathToFileURL(path).href)};`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", source], {
    encoding: "utf8",
    timeout: LOCATE_TIMEOUT_MS,
    env: { PATH: process.env.PATH ?? "" },
  });
  const lines = (stderr ?? "").split("\n");
  const at = lines.findIndex((line) => LOCATION.test(line));
  return at < 0
    ? undefined
    : lines
        .slice(at, at + 5)
        .filter(Boolean)
        .join("\n");
};

const startsWithLocation = (stack: string): boolean => LOCATION.test(stack.split("\n", 1)[0] ?? "");

/**
 * Text for the author of a module that failed to load: with file and line for a syntax error, with the author's own
 * frames for an exception.
 */
export const importFailure = (error: unknown, path: string): string => {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  if (error instanceof SyntaxError && !startsWithLocation(stack)) return locateSyntaxError(path) ?? stack;
  return stack
    .split("\n")
    .filter((line) => !/^\s+at .*(?:node:|\/worker\.js:)/.test(line))
    .slice(0, MAX_LINES)
    .join("\n");
};
