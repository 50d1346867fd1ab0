import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MeasuredServer, runtimeEnvironment } from "@sless/runtime-conformance/bench";

const HERE = import.meta.dirname;
const SERVERS = join(HERE, "servers");
/** The rivals' packages, installed once from PyPI. */
const ENVIRONMENT = join(tmpdir(), "sless-bench-python");

/** The machine's Python 3.11 itself, not a version manager's shim; undefined where there is none. */
export const findPython = (): string | undefined => {
  try {
    return execFileSync("python3.11", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
};

/** Python of an environment that has the rivals. */
const rivalPython = (python: string): string => {
  const own = join(ENVIRONMENT, "bin", "python");
  if (!existsSync(join(ENVIRONMENT, "ready"))) {
    process.stderr.write("installing uvicorn, gunicorn and Flask for the comparison\n");
    execFileSync(python, ["-m", "venv", ENVIRONMENT]);
    execFileSync(own, ["-m", "pip", "install", "--quiet", "--requirement", join(HERE, "requirements.txt")], {
      stdio: ["ignore", 2, 2],
    });
    execFileSync("touch", [join(ENVIRONMENT, "ready")]);
  }
  return own;
};

/** This runtime with the hello function. */
export const startRuntime = (python: string): Promise<MeasuredServer> =>
  MeasuredServer.start([python, "-m", "sless_runtime"], (...ports) => ({
    ...runtimeEnvironment(SERVERS, ...ports),
    PYTHONPATH: join(HERE, ".."),
  }));

/** uvicorn as `pip install uvicorn` gives it, with the smallest application, and without its log of requests. */
export const startUvicorn = (python: string): Promise<MeasuredServer> => {
  const command = [
    rivalPython(python),
    "-m",
    "uvicorn",
    "asgi:app",
    "--app-dir",
    SERVERS,
    "--log-level",
    "error",
    "--no-access-log",
  ] as const;
  return MeasuredServer.start(["sh", "-c", 'exec "$@" --port "$PORT"', "sh", ...command], () => ({}));
};

/** gunicorn with its defaults and a Flask application. */
export const startFlask = (python: string): Promise<MeasuredServer> => {
  const command = [
    rivalPython(python),
    "-m",
    "gunicorn",
    "--chdir",
    SERVERS,
    "--log-level",
    "error",
    "wsgi:app",
  ] as const;
  return MeasuredServer.start(["sh", "-c", 'exec "$@" --bind "127.0.0.1:$PORT"', "sh", ...command], () => ({}));
};
