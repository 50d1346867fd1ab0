/** Entry of the worker process: loads the function's code and answers the calls of the connections it is given. */
import { realpathSync } from "node:fs";
import { monotonicMs } from "../shared/monotonic-clock.js";
import { BEAT_INTERVAL_MS, CALL_TABLE_FD, MAX_CONNECTIONS } from "../shared/protocol.js";
import { CallRunner } from "./call-runner.js";
import { CallTableWriter } from "./call-table-writer.js";
import { CallServer } from "./call-server.js";
import { currentCall } from "./current-call.js";
import { createHidePaths } from "./function-error.js";
import { watchLateErrors } from "./late-errors.js";
import { loadHandler } from "./load-handler.js";
import { completeTableAtEnd } from "./process-ends.js";
import { captureOutput } from "./output-capture.js";
import { AnswerWriter } from "./send-answer.js";
import { takeSupervisorChannel } from "./supervisor-channel.js";
import type { HidePaths } from "./function-error.js";
import type { WorkerConfig } from "../shared/protocol.js";

const channel = takeSupervisorChannel();
const table = new CallTableWriter(CALL_TABLE_FD, MAX_CONNECTIONS);

const startBeat = (): void => {
  table.beat(monotonicMs());
  setInterval(() => table.beat(monotonicMs()), BEAT_INTERVAL_MS).unref();
};

const serve = async (config: WorkerConfig, hidePaths: HidePaths): Promise<CallServer> => {
  const [handler] = await Promise.all([loadHandler(config.entrypoint, config.codeDir), mirrored]);
  const writer = new AnswerWriter(config.versionUid);
  let retired = false;
  const retire = (reason: string, requestId: string): void => {
    if (retired) return;
    retired = true;
    // The supervisor ends a retiring worker when the table shows no call, so all calls must be in it by now.
    table.flush();
    channel.send({ type: "retire", reason, requestId });
    server.retire();
  };
  const runner = new CallRunner({ config, handler, writer, hidePaths, retire });
  const server = new CallServer({ config, runner, writer, channel, table });
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
completeTableAtEnd(table);
const mirrored = table.startMirror();
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
    table.flush();
    channel.send({ type: "draining" });
  } else if (socket !== undefined) {
    server?.adopt(message.slot, socket);
  }
});
