import type { WorkerConfig } from "../shared/protocol.js";

/** Everything the supervisor takes from its environment. */
export interface SupervisorConfig {
  readonly worker: WorkerConfig;
  readonly host: string;
  readonly port: number;
  readonly controlPort: number;
  readonly terminationLog: string;
  readonly loadTimeoutMs: number;
  /** What the function's code sees as `process.env`. */
  readonly functionEnv: NodeJS.ProcessEnv;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Names of the platform that a function may read. */
const VISIBLE_TO_FUNCTION = new Set(["SLESS_FUNCTION", "SLESS_VERSION", "SLESS_MEMORY_MB", "SLESS_TIMEOUT_SEC"]);

/** A variable of the pod is missing or wrong: the pod's maker is at fault, not the function. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const readNumber = (env: Env, name: string, range: { min: number; max: number; fallback?: number }): number => {
  const text = env[name];
  if (text === undefined && range.fallback !== undefined) return range.fallback;
  const value = Number(text);
  if (text !== undefined && /^\d+(\.\d+)?$/.test(text) && value >= range.min && value <= range.max) return value;
  const limits = `${String(range.min)} to ${String(range.max)}`;
  throw new ConfigError(
    `${name} is ${text === undefined ? "not set" : JSON.stringify(text)}: use a number from ${limits}`,
  );
};

const readText = (env: Env, name: string, fallback?: string): string => {
  const text = env[name] ?? fallback;
  if (text === undefined || text === "") throw new ConfigError(`${name} is not set`);
  return text;
};

const readPort = (env: Env, name: string, fallback: number): number =>
  readNumber(env, name, { min: 1, max: 65_535, fallback });

const readWorkerConfig = (env: Env): WorkerConfig => ({
  entrypoint: readText(env, "SLESS_ENTRYPOINT"),
  codeDir: readText(env, "SLESS_CODE_DIR", "/function").replace(/(?<=.)\/+$/, ""),
  timeoutMs: readNumber(env, "SLESS_TIMEOUT_SEC", { min: 0.001, max: 86_400, fallback: 30 }) * 1000,
  memoryMb: readNumber(env, "SLESS_MEMORY_MB", { min: 16, max: 1_048_576, fallback: 128 }),
  concurrency: readNumber(env, "SLESS_CONCURRENCY", { min: 1, max: 1000, fallback: 1 }),
  maxBodyBytes: readNumber(env, "SLESS_MAX_BODY_BYTES", { min: 0, max: 2 ** 30, fallback: 6_291_456 }),
  functionName: readText(env, "SLESS_FUNCTION", "function"),
  functionVersion: readText(env, "SLESS_VERSION", "1"),
  versionUid: readText(env, "SLESS_VERSION_UID", "none"),
});

const makeFunctionEnv = (env: Env): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("SLESS_") || VISIBLE_TO_FUNCTION.has(name)),
  );

/**
 * @param env the pod's environment
 * @throws ConfigError naming the variable
 */
export const parseConfig = (env: Env): SupervisorConfig => ({
  worker: readWorkerConfig(env),
  host: readText(env, "SLESS_HOST", "0.0.0.0"),
  port: readPort(env, "SLESS_PORT", 8080),
  controlPort: readPort(env, "SLESS_CONTROL_PORT", 8081),
  terminationLog: readText(env, "SLESS_TERMINATION_LOG", "/dev/termination-log"),
  loadTimeoutMs: readNumber(env, "SLESS_LOAD_TIMEOUT_SEC", { min: 0.1, max: 900, fallback: 60 }) * 1000,
  functionEnv: makeFunctionEnv(env),
});
