/** Entry of the worker process: loads the function's code and answers the calls of the connections it is given. */
import { realpathSync } from "node:fs";
import { flushCallRecordsAtExit, TableHeaderWriter } from "../shared/call-table.js";
import { monotonicMs } from "../shared/monotonic-clock.js";
import { BEAT_INTERVAL_MS, CALL_TABLE_FD } from "../shared/protocol.js";
import { CallRunner } from "./call-runner.js";
import { CallServer } from "./call-server.js";
import { currentCall } from "./current-call.js";
import { createHidePaths } from "./function-error.js";
import { watchLateErrors } from "./late-errors.js";
import { loadHandler } from "./load-handler.js";
import { captureOutput } from "./output-capture.js";
import { AnswerWriter } from "./send-answer.js";
import { takeSupervisorChannel } from "./supervisor-channel.js";
import type { HidePaths } from "./function-error.js";
import type { WorkerConfig } from "../shared/protocol.js";

const channel = takeSupervisorChannel();
const header = new TableHeaderWriter(CALL_TABLE_FD);

/** Tells a function's own abort from V8's when the heap is full: both end the process by the same signal. */
const markAbort = (): void => {
  const abort = process.abort.bind(process);
  process.abort = () => {
    header.aborted();
    return abort();
  };
};

const startBeat = (): void => {
  header.beat(monotonicMs());
  setInterval(() => header.beat(monotonicMs()), BEAT_INTERVAL_MS).unref();
};

const serve = async (config: WorkerConfig, hidePaths: HidePaths): Promise<CallServer> => {
  const handler = await loadHandler(config.entrypoint, config.codeDir);
  const writer = new AnswerWriter(config.versionUid);
  let retired = false;
  const retire = (reason: string, requestId: string): void => {
    if (retired) return;
    retired = true;
    channel.send({ type: "retire", reason, requestId });
    server.retire();
  };
  const runner = new CallRunner({ config, handler, writer, hidePaths, retire });
  const server = new CallServer({ config, runner, writer, channel });
  process.off("uncaughtException", onLoadFailure).off("unhandledRejection", onLoadFailure);
  watchLateErrors(runner, retire);
  return server;
};

let server: CallServer | undefined;
let hidePaths: HidePaths = (text) => text;

const onLoadFailure = (error: unknown): void => {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = error instanceof Error && error.name === "LoadError" ? error.message : `while loading: ${message}`;
  channel.send({ type: "load-error", message: hidePaths(text) });
};

captureOutput(() => currentCall.getStore()?.requestId ?? "");
markAbort();
flushCallRecordsAtExit();
startBeat();
process.on("uncaughtException", onLoadFailure).on("unhandledRejection", onLoadFailure);
// A Ctrl-C in a terminal reaches the whole process group: the supervisor alone decides when a worker ends.
process.on("SIGINT", () => undefined);

channel.receive((message, socket) => {
  if (message.type === "start") {
    hidePaths = createHidePaths([message.config.codeDir, realpathSync(message.config.codeDir)]);
    serve(message.config, hidePaths).then((started) => {
      server = started;
      channel.send({ type: "loaded" });
    }, onLoadFailure);
  } else if (message.type === "drain") {
    server?.drain();
  } else if (socket !== undefined) {
    server?.adopt(message.slot, socket);
  }
});
