import { readFile } from "node:fs/promises";
import { join } from "node:path";
import ignore from "ignore";

/** The user's own rules, in the syntax of .gitignore; `!name` takes back a built-in one. */
export const IGNORE_FILE = ".slessignore";

/** By-products of tools: no function needs them, and they would change the digest from one machine to the next. */
const NOISE = [
  ".git/",
  ".hg/",
  ".svn/",
  ".DS_Store",
  "Thumbs.db",
  "__pycache__/",
  "*.pyc",
  ".pytest_cache/",
  ".venv/",
  ".terraform/",
  ".sless/",
  "sless.yaml",
  IGNORE_FILE,
  // What editors write beside a file while it is open or saved.
  "*.swp",
  "*.swo",
  "*~",
  ".#*",
  "\\#*#",
  ".idea/",
  ".vscode/",
  "node_modules/.cache/",
];

/** What often holds credentials and is never meant to be deployed (security 27). */
const SECRETS = [
  ".env",
  ".env.*",
  "*.tfstate",
  "*.tfstate.*",
  "*.tfvars",
  ".npmrc",
  ".pypirc",
  ".netrc",
  ".aws/",
  ".ssh/",
];

/** Names that may be private keys: their content decides, since certificates look the same and are needed. */
const KEY_NAMES = ["*.pem", "*.key", "*.p8", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

export type Verdict = "keep" | "ignore" | "secret" | "maybe-key";

/** Decides about paths below the folder; folders' paths end with `/`. */
export type IgnoreRules = (path: string) => Verdict;

const IGNORE_FILE_BYTES = 256 << 10;

/** Reads the folder's ignore file, if there is one, over the built-in rules. */
export async function readIgnoreRules(folder: string): Promise<IgnoreRules> {
  const own = await readOwnRules(folder);
  const all = ignore()
    .add([...NOISE, ...SECRETS])
    .add(own);
  const secrets = ignore().add(SECRETS);
  const keys = ignore().add(KEY_NAMES).add(own);
  return (path) => {
    if (all.ignores(path)) return secrets.ignores(path) ? "secret" : "ignore";
    return keys.ignores(path) ? "maybe-key" : "keep";
  };
}

async function readOwnRules(folder: string): Promise<string> {
  try {
    return (await readFile(join(folder, IGNORE_FILE), "utf8")).slice(0, IGNORE_FILE_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
