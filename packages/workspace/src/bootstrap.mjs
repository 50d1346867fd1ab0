import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Root of the repository, without a trailing slash. */
export const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");

const { packageManager } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
const INSTALLED = `${root}/node_modules/.sless-installed`;
const OLDEST_NODE = [20, 19];

const say = (text) => process.stderr.write(`${text}\n`);

const demandNode = () => {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  say(`sless needs Node.js ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}.`);
  process.exit(1);
};

const hasPnpm = () => {
  try {
    const version = execFileSync("pnpm", ["--version"], {
      cwd: "/",
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return version.startsWith("10.");
  } catch {
    return false;
  }
};

/** The command that runs pnpm 10: the one on PATH, else one that npm fetches and keeps in its cache. */
export const pnpm = hasPnpm() ? ["pnpm"] : ["npx", "--yes", packageManager];

/**
 * Runs a command in the repository, its output shown, and ends this process with its exit code when it fails.
 * @param {string[]} command program and arguments
 * @param {import("node:child_process").SpawnSyncOptions} [options]
 */
export const run = ([program, ...args], options = {}) => {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options });
  if (error) say(`${program} could not be started: ${error.message}`);
  if (status !== 0) process.exit(signal ? 130 : (status ?? 1));
};

const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(`${root}/pnpm-lock.yaml`))
    .digest("hex");

const install = () => {
  const hash = lockHash();
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === hash) return;
  say("Installing dependencies from the npm registry (once) …");
  run([...pnpm, "install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=warn"]);
  writeFileSync(INSTALLED, hash);
};

/** Installs what the lock file names and builds all packages; both do nothing when there is nothing to do. */
export const prepare = () => {
  demandNode();
  install();
  say("Building …");
  // turbo runs the packages' scripts through pnpm, which must therefore be on its PATH: `pnpm exec` sees to that.
  run([...pnpm, "exec", "turbo", "run", "build", "--output-logs=errors-only", "--log-prefix=none"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
  });
};
