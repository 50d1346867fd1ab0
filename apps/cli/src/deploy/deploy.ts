import { mkdtemp, rm } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ApiError, type SlessClient } from "@sless/client";
import type { FunctionBody, PatchFunction } from "@sless/contracts";
import { CodeRejected, digestOfFolder, zipFolder } from "@sless/images";
import { UserError } from "../errors.js";
import type { Progress } from "../output/progress.js";
import type { Project } from "../project/config.js";
import { waitReady } from "../wait-ready.js";

export interface DeployOptions {
  readonly project: Project;
  /** Variables that are set over those of the project; a name that is in neither is removed. */
  readonly env: Readonly<Record<string, string>>;
  /** Gives the function an HTTP trigger of its own name if it has none. */
  readonly trigger: boolean;
  readonly timeoutSec: number;
  readonly signal: AbortSignal;
}

export interface Deployed {
  readonly fn: FunctionBody;
  readonly url: string | undefined;
  /** False when neither code nor settings differed from what is there. */
  readonly changed: boolean;
}

const settingsOf = ({ project, env }: DeployOptions) => ({
  runtime: project.runtime,
  entrypoint: project.entrypoint,
  ...(project.memory_mb === undefined ? {} : { memory_mb: project.memory_mb }),
  ...(project.timeout_sec === undefined ? {} : { timeout_sec: project.timeout_sec }),
  ...(project.scale === undefined ? {} : { scale: project.scale }),
  ...(project.keep_versions === undefined ? {} : { keep_versions: project.keep_versions }),
  env_vars: { ...project.env_vars, ...env },
});
type Settings = ReturnType<typeof settingsOf>;

/** What a merge patch has to say so that the function gets these settings; undefined when it has them already. */
export const makePatch = (fn: FunctionBody, settings: Settings): PatchFunction | undefined => {
  const current: Readonly<Record<string, unknown>> = { ...fn };
  const changed = Object.entries(settings).filter(
    ([name, value]) => name !== "env_vars" && !isDeepStrictEqual(current[name], value),
  );
  const removed = Object.keys(fn.env_vars).filter((name) => !Object.hasOwn(settings.env_vars, name));
  const isEnvChanged = !isDeepStrictEqual({ ...fn.env_vars }, settings.env_vars);
  if (changed.length === 0 && !isEnvChanged) return undefined;
  const env_vars = { ...settings.env_vars, ...Object.fromEntries(removed.map((name) => [name, null])) };
  return { ...Object.fromEntries(changed), ...(isEnvChanged ? { env_vars } : {}) };
};

const find = async (client: SlessClient, name: string, signal: AbortSignal): Promise<FunctionBody | undefined> => {
  try {
    return (await client.functions.get(name, { signal })).value;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};

const kilobytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`;

/** Packs the folder to a temporary zip for the time of the work. */
const withZip = async <T>(
  dir: string,
  progress: Progress,
  work: (zip: { file: string; size: number }) => Promise<T>,
): Promise<T> => {
  const temporary = await mkdtemp(join(tmpdir(), "sless-deploy-"));
  try {
    const file = join(temporary, "code.zip");
    const { size } = await progress.step("packed", async (update) => {
      const packed = await zipFolder(dir, file);
      update(`${packed.files.length} file(s), ${kilobytes(packed.size)}`);
      return packed;
    });
    return await work({ file, size });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};

/** Uploads code and settings as one change: what runs is never new code with old settings or the reverse. */
const uploadChange = async (
  client: SlessClient,
  existing: FunctionBody | undefined,
  options: DeployOptions,
  progress: Progress,
): Promise<FunctionBody> => {
  const { project, signal } = options;
  const settings = settingsOf(options);
  return await withZip(project.dir, progress, async ({ file, size }) => {
    if (existing === undefined) {
      await progress.step("created", () => client.functions.create({ name: project.name, ...settings }, { signal }));
    }
    const upload = { body: createReadStream(file), size, signal };
    return await progress.step("uploaded", async (update) => {
      const result = await client.functions.upload(project.name, { ...upload, stage: existing !== undefined });
      for (const warning of result.warnings) progress.warn(warning);
      update(`code ${result.code_digest.slice(0, 12)}`);
      if (existing === undefined)
        return result.function ?? (await client.functions.get(project.name, { signal })).value;
      const patch = { ...makePatch(existing, settings), code_digest: result.code_digest };
      return (await client.functions.patch(project.name, patch, { signal })).value;
    });
  });
};

const applyChange = async (
  client: SlessClient,
  existing: FunctionBody | undefined,
  options: DeployOptions,
  progress: Progress,
): Promise<{ fn: FunctionBody; changed: boolean }> => {
  const { project, signal } = options;
  const { codeDigest, warnings } = await digestOfFolder(project.dir);
  for (const { message } of warnings) progress.warn(message);
  if (existing?.code_digest !== codeDigest)
    return { fn: await uploadChange(client, existing, options, progress), changed: true };
  const patch = makePatch(existing, settingsOf(options));
  if (patch === undefined) return { fn: existing, changed: false };
  const { value } = await progress.step("settings changed", () =>
    client.functions.patch(project.name, patch, { signal }),
  );
  return { fn: value, changed: true };
};

const ensureTrigger = async (client: SlessClient, name: string, signal: AbortSignal): Promise<void> => {
  for await (const trigger of client.triggers.all(signal))
    if (trigger.function === name && trigger.type === "http") return;
  await client.triggers.create({ name, function: name, type: "http" }, { signal });
};

/** URL of the function's first active trigger, once there is one; the trigger follows its function by itself. */
const urlOf = async (
  client: SlessClient,
  fn: FunctionBody,
  { project, trigger, signal }: DeployOptions,
): Promise<string | undefined> => {
  if (fn.status.url !== undefined && fn.status.url !== "") return fn.status.url;
  if (!trigger) return undefined;
  const { value } = await client.triggers.get(project.name, { wait: "ready", timeout: 15, signal });
  if (value.status.url === undefined)
    throw new UserError(`The trigger ${project.name} has no URL: ${value.status.message}`);
  return value.status.url;
};

const explain = (error: unknown): never => {
  if (error instanceof CodeRejected) throw new UserError(`The folder can't be deployed: ${error.message}`);
  throw error;
};

/**
 * Brings a folder to the platform and waits until it is what answers.
 * @throws UserError with the platform's reason when the new code can't run; what ran before still does
 */
export const deploy = async (client: SlessClient, options: DeployOptions, progress: Progress): Promise<Deployed> => {
  const { project, timeoutSec, signal } = options;
  const existing = await find(client, project.name, signal);
  const { fn, changed } = await applyChange(client, existing, options, progress).catch(explain);
  if (options.trigger) await ensureTrigger(client, project.name, signal);
  const ready = await progress.step(changed ? "answers" : "unchanged, answers", async (update) => {
    const value = await waitReady(client, {
      name: project.name,
      generation: fn.generation,
      timeoutSec,
      signal,
      update,
    });
    update(`version ${value.status.ready_version ?? "?"}`);
    return value;
  });
  return { fn: ready, url: await urlOf(client, ready, options), changed };
};
