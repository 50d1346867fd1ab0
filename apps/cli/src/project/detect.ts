import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a folder says about how to run it. */
export interface Detected {
  readonly runtime?: string;
  readonly entrypoint?: string;
}

/** Files that usually hold the handler, the likeliest first. */
const CANDIDATES = {
  nodejs20: ["index", "handler", "main", "app", "dist/index", "src/index"],
  "python3.11": ["main", "handler", "app", "index"],
} as const;
type Runtime = keyof typeof CANDIDATES;

const ENDINGS: Readonly<Record<Runtime, readonly string[]>> = {
  nodejs20: [".mjs", ".js", ".cjs"],
  "python3.11": [".py"],
};
const EXPORT = "handler";

const exportsHandler: Readonly<Record<Runtime, RegExp>> = {
  nodejs20:
    /\bexport\s+(?:async\s+)?(?:function\s*\*?|const|let|var)\s+handler\b|\bexport\s*\{[^}]*\bhandler\b|\bexports\.handler\s*=|\bmodule\.exports\s*=\s*\{[^}]*\bhandler\b/,
  "python3.11": /^(?:async\s+)?def\s+handler\s*\(|^handler\s*=/m,
};

/** The package's own idea of its main file, if it names one below the folder. */
const packageMain = (dir: string): string | undefined => {
  try {
    const { main } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as { main?: unknown };
    return typeof main === "string" && !main.includes("..")
      ? main.replace(/^\.\//, "").replace(/\.[cm]?js$/, "")
      : undefined;
  } catch {
    return undefined;
  }
};

const findIn = (dir: string, runtime: Runtime): string | undefined => {
  const main = runtime === "nodejs20" ? packageMain(dir) : undefined;
  for (const file of main === undefined ? CANDIDATES[runtime] : [main, ...CANDIDATES[runtime]]) {
    const found = ENDINGS[runtime].map((ending) => join(dir, file + ending)).find((path) => existsSync(path));
    if (found !== undefined && exportsHandler[runtime].test(readFileSync(found, "utf8"))) return `${file}.${EXPORT}`;
  }
  return undefined;
};

/**
 * Finds runtime and entrypoint of a folder where they are obvious: a usual file that exports `handler`. Where both
 * languages fit nothing is said, since a guess would be wrong half of the time.
 */
export const detectProject = (dir: string): Detected => {
  const found = (Object.keys(CANDIDATES) as Runtime[]).flatMap((runtime) => {
    const entrypoint = findIn(dir, runtime);
    return entrypoint === undefined ? [] : [{ runtime, entrypoint }];
  });
  return found.length === 1 ? (found[0] ?? {}) : {};
};
