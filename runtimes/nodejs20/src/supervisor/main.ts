/** Entry of a function's pod: reads its environment, starts the supervisor, ends with it. */
import { createControlServer } from "./control-server.js";
import { parseConfig } from "./config.js";
import { LogSink } from "./log-sink.js";
import { Supervisor } from "./supervisor.js";
import { writeTerminationLog } from "./termination-log.js";
import type { SupervisorConfig } from "./config.js";
import type { FatalReason } from "./termination-log.js";

const STDOUT = 1;
const FLUSH_MS = 1_000;
/** What the last words of ended workers and the faults of their callers need to get out. */
const LAST_WORDS_MS = 100;

const log = new LogSink(STDOUT);

const exit = async (code: number): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
  await log.flush(FLUSH_MS);
  process.exit(code);
};

const createFail =
  (terminationLog: string) =>
  (reason: FatalReason, message: string): void => {
    writeTerminationLog(terminationLog, reason, message);
    log.platform("error", `${reason}: ${message}`);
    void exit(1);
  };

const run = async (config: SupervisorConfig): Promise<void> => {
  const supervisor = new Supervisor({ config, log, fail: createFail(config.terminationLog) });
  const control = createControlServer(supervisor);
  const stop = (): void => void supervisor.stop().then(() => exit(0));
  process.once("SIGTERM", stop).once("SIGINT", stop);
  await new Promise<void>((resolve, reject) => {
    control.once("error", reject);
    control.listen({ host: config.host, port: config.controlPort }, resolve);
  });
  await supervisor.start();
};

const start = async (): Promise<void> => {
  const fail = createFail(process.env.SLESS_TERMINATION_LOG ?? "/dev/termination-log");
  try {
    await run(parseConfig(process.env));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    fail("WorkerCrashed", `the runtime cannot start: ${message}`);
  }
};

void start();
