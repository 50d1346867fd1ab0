import type { IncomingMessage, ServerResponse } from "node:http";
import { FaultBody, type RuntimeFault } from "@sless/contracts";
import { errors, type Client, type Dispatcher } from "undici";
import { AnswerRelay } from "./answer-relay.js";
import { ClientGoneError, type ClientWatch } from "./client-watch.js";
import {
  isRefusal,
  makeBodyTooLargeFault,
  makeDeadlineFault,
  makeExitedFault,
  makeInvalidAnswerFault,
  makeInvalidRequestFault,
  makeRuntimeFault,
  parseRuntimeFault,
  type CallFault,
} from "./faults.js";
import type { AnswerHead, AnswerHeadReader, HeaderList } from "./headers.js";
import { BodyTooLargeError, type RequestBody } from "./request-body.js";

/** How one attempt to send a call ended. */
export type AttemptResult =
  /** The answer went to the client whole. */
  | { readonly kind: "answered"; readonly status: number; readonly runMs: number | undefined }
  /** The pod did not read the body: another may be tried. */
  | { readonly kind: "refused"; readonly reason: RuntimeFault }
  /** No connection, so surely nothing was sent: another may be tried. */
  | { readonly kind: "unsent" }
  /** Nothing went to the client yet. */
  | { readonly kind: "fault"; readonly fault: CallFault; readonly runMs: number | undefined }
  /** The answer broke off after its head; the client's connection is destroyed. */
  | { readonly kind: "broken"; readonly fault: CallFault; readonly runMs: number | undefined }
  | { readonly kind: "gone" };

export interface AttemptSpec {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly watch: ClientWatch;
  /** Raw path and query. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: RequestBody;
  readonly maxBodyBytes: number;
  readonly versionUid: string;
  readonly timeoutSec: number;
  readonly readHead: AnswerHeadReader;
  /** Headers that the platform adds to the answer. */
  readonly answerHeaders: HeaderList;
}

/** The call took longer than it may. */
class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}
/** What came is no answer of the version that was asked. */
class InvalidAnswerError extends Error {
  override readonly name = "InvalidAnswerError";
  constructor(
    message: string,
    readonly source: CallFault["source"],
  ) {
    super(message);
  }
}

/** The runtime enforces the deadline and says more about it; this is for a runtime that does not. */
const DEADLINE_GRACE_MS = 500;
const MAX_FAULT_BYTES = 64 * 1024;

const parseFaultBody = (chunks: readonly Buffer[]): FaultBody | undefined => {
  try {
    return FaultBody.safeParse(JSON.parse(Buffer.concat(chunks).toString("utf8"))).data;
  } catch {
    return undefined;
  }
};

/** Receives the events of one dispatched request and turns them into one result. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #spec: AttemptSpec;
  readonly #settle: (result: AttemptResult) => void;
  readonly #relay: AnswerRelay;
  #sent = false;
  #begun = false;
  #status = 0;
  #runMs: number | undefined;
  #fault: RuntimeFault | undefined;
  #faultChunks: Buffer[] = [];
  #faultBytes = 0;
  #deadline: NodeJS.Timeout | undefined;
  #resume: () => void = () => undefined;

  constructor(spec: AttemptSpec, settle: (result: AttemptResult) => void) {
    this.#spec = spec;
    this.#settle = settle;
    this.#relay = new AnswerRelay(spec.response);
  }

  /** undici calls this right before it writes: from here on the call counts as sent. */
  onConnect(abort: (error?: Error) => void): void {
    const { watch, timeoutSec } = this.#spec;
    if (watch.gone) return abort(new ClientGoneError());
    this.#sent = true;
    watch.onGone = () => abort(new ClientGoneError());
    this.#deadline = setTimeout(() => abort(new DeadlineError()), timeoutSec * 1000 + DEADLINE_GRACE_MS);
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    const head = this.#spec.readHead(raw);
    this.#status = status;
    this.#runMs = head.runMs;
    this.#resume = resume;
    this.#fault = this.#recognise(head);
    if (this.#fault !== undefined) return true;
    this.#relay.begin(status, head, this.#spec.answerHeaders);
    this.#begun = true;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#fault === undefined) return this.#relay.write(chunk, this.#resume);
    this.#faultBytes += chunk.length;
    if (this.#faultBytes <= MAX_FAULT_BYTES) this.#faultChunks.push(chunk);
    return true;
  }

  onComplete(trailers: string[] | null): void {
    if (this.#fault !== undefined) return this.#finish(this.#faultResult(this.#fault));
    this.#relay.end(trailers ?? []);
    this.#finish({ kind: "answered", status: this.#status, runMs: this.#runMs });
  }

  onError(error: Error): void {
    this.#finish(this.#failure(error));
  }

  #finish(result: AttemptResult): void {
    clearTimeout(this.#deadline);
    this.#spec.watch.onGone = undefined;
    if (result.kind === "broken") this.#relay.break();
    this.#settle(result);
  }

  /** Security 18: a pod that took over the address must not answer for this version. */
  #recognise({ fault, versionUid }: AnswerHead): RuntimeFault | undefined {
    const known = fault === undefined ? undefined : parseRuntimeFault(fault);
    if (known === "wrong-version") return known;
    if (versionUid !== this.#spec.versionUid) {
      throw new InvalidAnswerError("it does not come from the version that was called", "platform");
    }
    if (fault !== undefined && known === undefined) {
      throw new InvalidAnswerError("its fault is not one that this gateway knows", "platform");
    }
    return known;
  }

  #faultResult(reason: RuntimeFault): AttemptResult {
    if (isRefusal(reason)) return { kind: "refused", reason };
    return { kind: "fault", fault: makeRuntimeFault(reason, parseFaultBody(this.#faultChunks)), runMs: this.#runMs };
  }

  #failure(error: Error): AttemptResult {
    if (this.#spec.watch.gone) return { kind: "gone" };
    // A refusing pod may close before it has sent all of its text; the head has said enough.
    if (this.#fault !== undefined) return this.#faultResult(this.#fault);
    if (!this.#sent && !(error instanceof errors.InvalidArgumentError)) return { kind: "unsent" };
    return { kind: this.#begun ? "broken" : "fault", fault: this.#faultOf(error), runMs: this.#runMs };
  }

  #faultOf(error: Error): CallFault {
    if (error instanceof DeadlineError) return makeDeadlineFault(this.#spec.timeoutSec);
    if (error instanceof BodyTooLargeError) return makeBodyTooLargeFault(this.#spec.maxBodyBytes);
    if (error instanceof InvalidAnswerError) return makeInvalidAnswerFault(error.message, error.source);
    if (error instanceof errors.InvalidArgumentError) return makeInvalidRequestFault(error.message);
    if (isSocketFailure(error)) return makeExitedFault();
    return makeInvalidAnswerFault("it is not valid HTTP", "function");
  }
}

const SOCKET_FAILURES: ReadonlySet<string> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_DESTROYED",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);

const isSocketFailure = (error: NodeJS.ErrnoException): boolean => SOCKET_FAILURES.has(error.code ?? "");

/** Sends a call over one socket, once, and passes the answer on. Never rejects. */
export const sendOnce = (client: Client, spec: AttemptSpec): Promise<AttemptResult> =>
  new Promise((resolve) => {
    client.dispatch(
      {
        method: spec.request.method ?? "GET",
        path: spec.path,
        headers: spec.headers,
        body: spec.body.open(),
      },
      new Attempt(spec, resolve),
    );
  });
