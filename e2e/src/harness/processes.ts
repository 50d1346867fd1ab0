import { readdirSync, readFileSync } from "node:fs";

/** One process of this machine. */
export interface ProcessInfo {
  readonly pid: number;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

const readProcess = (pid: number): ProcessInfo | undefined => {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const pairs = environment.filter((line) => line.includes("=")).map((line) => line.split(/=(.*)/s, 2));
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, command, env: Object.fromEntries(pairs) as Record<string, string> };
  } catch {
    // It ended while we looked, or is another user's.
    return undefined;
  }
};

/** Processes that name a folder in their command or environment: everything that was started for a platform does. */
export const processesOf = (dataDir: string): ProcessInfo[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => readProcess(Number(name)) ?? [])
    .filter(
      ({ command, env }) => command.includes(dataDir) || Object.values(env).some((value) => value.includes(dataDir)),
    )
    .filter(({ command }) => command !== "");
