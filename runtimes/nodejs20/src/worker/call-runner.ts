import { toAnswer } from "./answer.js";
import { BadResult } from "./bad-result.js";
import { FunctionContext } from "./context.js";
import { currentCall } from "./current-call.js";
import { DeadlineTimer } from "./deadline-timer.js";
import { makeEvent } from "./event.js";
import { describeThrown, renderThrown } from "./function-error.js";
import { isThenable } from "./handler.js";
import { monotonicMs } from "../shared/monotonic-clock.js";
import type { IncomingMessage } from "node:http";
import type { Fault, FaultBody, WorkerConfig } from "../shared/protocol.js";
import type { Answer } from "./answer.js";
import type { Call } from "./call.js";
import type { HidePaths } from "./function-error.js";
import type { Handler } from "./handler.js";
import type { AnswerWriter } from "./send-answer.js";

export interface RunnerParts {
  readonly config: WorkerConfig;
  readonly handler: Handler;
  readonly writer: AnswerWriter;
  readonly hidePaths: HidePaths;
  /** Asks for a replacement of this process: something of the handler goes on running in it. */
  readonly retire: (reason: string, requestId: string) => void;
}

/** Runs admitted calls: handler, deadline, answer. Each call ends exactly once, in `#over`. */
export class CallRunner {
  readonly calls: Set<Call> = new Set();
  readonly #deadlines = new DeadlineTimer<Call>(this.calls, (call) => this.#onDeadline(call));

  constructor(private readonly parts: RunnerParts) {}

  /** Counts the call against the concurrency and watches its deadline, from before its body is read. */
  admit(call: Call): void {
    call.connection.call = call;
    call.connection.record.begin(call.requestId, call.started, call.deadline);
    this.calls.add(call);
    this.#deadlines.watch(call);
  }

  /** Calls the handler. */
  run(call: Call, request: IncomingMessage, body: Buffer | undefined): void {
    const { config, handler } = this.parts;
    const event = makeEvent(request.method ?? "GET", request.url ?? "/", call.head, body);
    const context = new FunctionContext(call, config);
    call.phase = "running";
    call.handlerStarted = monotonicMs();
    try {
      const result = currentCall.run(call, handler, event, context);
      if (isThenable(result)) {
        result.then(
          (value) => this.#onReturned(call, value),
          (error: unknown) => this.#onHandlerThrew(call, error),
        );
      } else {
        this.#onReturned(call, result);
      }
    } catch (error) {
      this.#onHandlerThrew(call, error);
    }
  }

  /** Ends a call with a fault; after the head of its answer, with its connection. */
  fail(call: Call, fault: Fault, body: FaultBody): void {
    if (call.phase === "over") return;
    const headIsOut = call.phase === "answering";
    call.phase = "over";
    if (headIsOut) call.connection.reset();
    else this.parts.writer.fault(call, fault, body);
    this.#over(call);
  }

  /** Ends a call whose handler threw, rejected, or left an exception behind that is known to be this call's. */
  onThrown(call: Call, error: unknown): void {
    this.fail(call, "handler-error", describeThrown(error, this.parts.hidePaths));
  }

  /** The caller hung up. The handler learns it by its signal, and holds its place until it is done. */
  callerGone(call: Call): void {
    this.#abort(call, new DOMException("The caller has gone", "AbortError"));
    if (call.phase === "receiving") this.#over(call);
    else if (call.phase === "answering") call.phase = "over";
  }

  /** The author finds file and line in the log of the call; its caller gets them only where the gateway lets them by. */
  #onHandlerThrew(call: Call, error: unknown): void {
    if (call.phase !== "over") this.#log(call, renderThrown(error, this.parts.hidePaths));
    this.onThrown(call, error);
  }

  #log(call: Call, text: string): void {
    // eslint-disable-next-line no-console -- the function's author reads it in the function's log
    currentCall.run(call, () => console.error(text));
  }

  #onReturned(call: Call, value: unknown): void {
    if (call.phase === "over") return;
    try {
      const answer = toAnswer(value);
      if (typeof answer.body === "string" || Buffer.isBuffer(answer.body)) {
        this.parts.writer.whole(call, answer, answer.body);
        this.#over(call);
      } else {
        this.#stream(call, answer, answer.body);
      }
    } catch (error) {
      this.#onUnanswerable(call, error);
    }
  }

  #stream(call: Call, answer: Answer, source: AsyncIterable<unknown>): void {
    // The source's code runs in the course of this: its output is the call's.
    const sent = currentCall.run(call, () => this.parts.writer.streamed(call, answer, source));
    sent.then(
      () => this.#over(call),
      (error: unknown) => this.#onUnanswerable(call, error),
    );
  }

  #onUnanswerable(call: Call, error: unknown): void {
    if (call.phase === "over") this.#over(call);
    else if (error instanceof BadResult) {
      this.#log(call, `BadResult: ${error.message}`);
      this.fail(call, "bad-result", { errorType: "BadResult", errorMessage: error.message });
    } else this.#onHandlerThrew(call, error);
  }

  #onDeadline(call: Call): void {
    if (call.phase === "receiving") {
      call.response.shouldKeepAlive = false;
      this.fail(call, "timeout", { errorType: "Timeout", errorMessage: "the body did not arrive before the deadline" });
      return;
    }
    const message = `the function did not finish within ${String(Math.round(call.deadline - call.started))} ms`;
    this.#abort(call, new DOMException(message, "TimeoutError"));
    this.fail(call, "timeout", { errorType: "Timeout", errorMessage: message });
    this.#over(call);
    this.parts.retire(message, call.requestId);
  }

  /** Listeners of the signal are the handler's code: what they print is the call's, what they throw is caught late. */
  #abort(call: Call, reason: Error): void {
    currentCall.run(call, () => call.abort(reason));
  }

  #over(call: Call): void {
    call.phase = "over";
    if (!this.calls.delete(call)) return;
    const { connection } = call;
    if (connection.call === call) connection.call = undefined;
    connection.pending--;
  }
}
