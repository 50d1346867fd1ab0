import { createWriteStream, existsSync, readFileSync, renameSync } from "node:fs";
import type { ProcessSupervisor, RunningProcess } from "@sless/devcluster";

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** Up for this long, a component counts as sound again and its next restart is quick. */
const SOUND_AFTER_MS = 30_000;
const READY_POLL_MS = 20;
const LOG_TAIL_BYTES = 2000;

/** One program of the platform: API, controller or gateway. */
export interface ComponentSpec {
  readonly name: string;
  /** The file that Node.js runs. */
  readonly main: string;
  /** The whole environment. */
  readonly env: Record<string, string>;
  readonly logFile: string;
  /** Answers 200 once the component is ready. */
  readonly readyUrl: string;
}

export interface Component {
  readonly name: string;
  readonly pid: number | undefined;
  /**
   * Waits until it is ready.
   * @throws Error with the last lines of its log when it isn't within the time.
   */
  ready(timeoutMs: number): Promise<void>;
  /** Ends it: SIGTERM, and SIGKILL when it takes longer than `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const logTail = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8").slice(-LOG_TAIL_BYTES) : "");

const answersOk = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
};

/**
 * Starts a component and starts it again whenever it ends unasked, ever more slowly while it keeps ending.
 * @param report receives a sentence for a person at every unasked end
 */
export const startComponent = (
  spec: ComponentSpec,
  supervisor: ProcessSupervisor,
  report: (text: string) => void,
): Component => {
  if (existsSync(spec.logFile)) renameSync(spec.logFile, `${spec.logFile}.1`);
  const log = createWriteStream(spec.logFile, { mode: 0o600 });
  let running: RunningProcess | undefined;
  let stopping = false;
  let restartMs = FIRST_RESTART_MS;
  let restart: NodeJS.Timeout | undefined;

  const start = (): void => {
    const startedAt = performance.now();
    const child = supervisor.spawn({
      command: process.execPath,
      args: ["--enable-source-maps", spec.main],
      env: spec.env,
      cwd: "/",
    });
    running = child;
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    void child.exit.then(({ code, signal, startError }) => {
      if (stopping) return;
      if (performance.now() - startedAt > SOUND_AFTER_MS) restartMs = FIRST_RESTART_MS;
      const why = startError ?? (signal === undefined ? `exit code ${code}` : signal);
      report(`${spec.name} ended (${why}); starting it again. Its log: ${spec.logFile}`);
      restart = setTimeout(start, restartMs);
      restartMs = Math.min(restartMs * 2, LONGEST_RESTART_MS);
    });
  };
  start();

  return {
    name: spec.name,
    get pid() {
      return running?.pid;
    },
    async ready(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (!(await answersOk(spec.readyUrl))) {
        if (performance.now() > deadline) {
          throw new Error(
            `${spec.name} was not ready within ${timeoutMs / 1000} s. The end of its log:\n${logTail(spec.logFile)}`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
      }
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(restart);
      running?.signal("SIGTERM");
      const kill = setTimeout(() => running?.killGroup(), graceMs);
      await running?.exit;
      clearTimeout(kill);
      log.end();
    },
  };
};
