import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { RUNTIME_DIR, type RuntimeEntry } from "@sless/contracts";
import { makeBaseImage, type Registry } from "@sless/devcluster";
import { RUNTIME_ENTRYPOINT, runtimeDirectory } from "@sless/runtime-nodejs20";

/** A runtime that this machine offers: what goes into its base image. */
interface LocalRuntime {
  readonly name: string;
  readonly family: RuntimeEntry["family"];
  /** Folders of this machine by where they lie in the image. */
  readonly files: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Why its functions can't run here. */
  readonly unavailable?: string;
}

const nodejs20: LocalRuntime = {
  name: "nodejs20",
  family: "nodejs",
  files: { [RUNTIME_DIR]: runtimeDirectory() },
  entrypoint: RUNTIME_ENTRYPOINT,
};

/** The real interpreter behind whatever `python3.11` on the PATH is: a version manager's shim costs 0.1 s a start. */
const findPython = async (path: string): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)("python3.11", ["-c", "import sys; print(sys.executable)"], {
      env: { PATH: path },
      timeout: 10_000,
    });
    return stdout.trim();
  } catch {
    return undefined;
  }
};

const python311 = async (path: string): Promise<LocalRuntime> => {
  const python = await findPython(path);
  const folder = dirname(fileURLToPath(import.meta.resolve("@sless/runtime-python3.11/package.json")));
  return {
    name: "python3.11",
    family: "python",
    files: { [`${RUNTIME_DIR}/sless_runtime`]: join(folder, "sless_runtime") },
    entrypoint: [python ?? "python3.11", "-m", "sless_runtime"],
    env: { PYTHONPATH: RUNTIME_DIR },
    ...(python === undefined && {
      unavailable: "Python 3.11 is not on this machine: install it so that `python3.11` runs, and start sless up again",
    }),
  };
};

/**
 * Puts the base images of this machine's runtimes into its registry. They hold the runtimes' own files; interpreters
 * are the machine's.
 * @returns the catalogue for API and controller
 */
export const publishRuntimes = async (registry: Registry, path: string): Promise<RuntimeEntry[]> => {
  const entries: RuntimeEntry[] = [];
  for (const runtime of [nodejs20, await python311(path)]) {
    const repository = `runtimes/${runtime.name}`;
    const digest = await makeBaseImage({
      registry: { host: registry.host, credentials: registry.credentials },
      repository,
      files: runtime.files,
      entrypoint: [...runtime.entrypoint],
      ...(runtime.env && { env: { ...runtime.env } }),
    });
    const { name, family, unavailable } = runtime;
    const image = `${registry.host}/${repository}@${digest}`;
    entries.push({ name, family, image, deprecated: false, ...(unavailable !== undefined && { unavailable }) });
  }
  return entries;
};
