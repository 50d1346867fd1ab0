import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** The machine's own interpreters, which stand in for those of an image. */
export interface MachineCommands {
  /** The file of this machine for a command of an image. */
  resolve(command: string): Promise<string>;
  /** Search path for processes: where this Node.js lies first, then this process's own. */
  readonly path: string;
}

const PYTHON = /^(?:\/usr(?:\/local)?\/bin\/)?python3?(?:\.\d+)?$/;
const NODE = /^(?:\/usr(?:\/local)?\/bin\/)?node(?:js)?$/;

/**
 * Version managers put a script before Python that costs tens of milliseconds at each start; asked once, the
 * interpreter tells its own file.
 */
const findPython = async (): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)("python3", ["-c", "import sys; print(sys.executable)"], {
      timeout: 10_000,
    });
    return stdout.trim() || "python3";
  } catch {
    return "python3";
  }
};

export const createMachineCommands = (): MachineCommands => {
  let python: Promise<string> | undefined;
  return {
    path: [dirname(process.execPath), process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"].join(":"),
    resolve(command) {
      if (NODE.test(command)) return Promise.resolve(process.execPath);
      if (PYTHON.test(command)) return (python ??= findPython());
      return Promise.resolve(command);
    },
  };
};
