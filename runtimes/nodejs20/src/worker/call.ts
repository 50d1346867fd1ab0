import { monotonicMs } from "../shared/monotonic-clock.js";
import type { ServerResponse } from "node:http";
import type { Connection } from "./connection.js";
import type { RequestHead } from "./request-head.js";

/**
 * `receiving` the body, `running` the handler, `answering` once the head of a streamed answer is out, `over` when
 * nothing that the handler does reaches the caller any more.
 */
export type CallPhase = "receiving" | "running" | "answering" | "over";

/** One call from its admission to the end of its answer. */
export class Call {
  phase: CallPhase = "receiving";
  handlerStarted = 0;
  readonly started = monotonicMs();
  readonly deadline: number;
  #controller: AbortController | undefined;

  /** @param budgetMs what is left of the caller's patience and of the function's timeout */
  constructor(
    readonly head: RequestHead,
    readonly connection: Connection,
    readonly response: ServerResponse,
    budgetMs: number,
  ) {
    this.deadline = this.started + budgetMs;
  }

  get requestId(): string {
    return this.head.requestId;
  }

  get remainingMs(): number {
    return Math.max(0, Math.floor(this.deadline - monotonicMs()));
  }

  /** Milliseconds since the handler was called, to the hundredth; undefined when it was not. */
  get runMs(): string | undefined {
    if (this.handlerStarted === 0) return undefined;
    return String(Math.round((monotonicMs() - this.handlerStarted) * 100) / 100);
  }

  /** Made only when the handler asks for it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#controller?.abort(reason);
  }
}
