import { FaultBody, type RuntimeFault } from "@sless/contracts";
import { errors, type Dispatcher } from "undici";
import { AnswerRelay } from "./answer-relay.js";
import type { Call } from "./call.js";
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
import { MAX_ANSWER_HEAD_BYTES, type Endpoint } from "./endpoint.js";
import type { AnswerHead } from "./headers.js";
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

/** A call that is ready to be sent. */
export interface Outgoing {
  readonly call: Call;
  readonly watch: ClientWatch;
  readonly body: RequestBody;
  readonly maxBodyBytes: number;
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
  readonly #call: Call;
  readonly #outgoing: Outgoing;
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

  constructor(outgoing: Outgoing, settle: (result: AttemptResult) => void) {
    this.#call = outgoing.call;
    this.#outgoing = outgoing;
    this.#settle = settle;
    this.#relay = new AnswerRelay(outgoing.call.response);
  }

  /** undici calls this right before it writes: from here on the call counts as sent. */
  onConnect(abort: (error?: Error) => void): void {
    const { watch } = this.#outgoing;
    if (watch.gone) return abort(new ClientGoneError());
    this.#sent = true;
    watch.onGone = () => abort(new ClientGoneError());
    this.#deadline = setTimeout(() => abort(new DeadlineError()), this.#call.timeoutSec * 1000 + DEADLINE_GRACE_MS);
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    const head = this.#call.readHead(raw);
    this.#status = status;
    this.#runMs = head.runMs;
    this.#resume = resume;
    this.#fault = this.#recognise(head);
    if (this.#fault !== undefined) return true;
    this.#relay.begin(status, head, this.#call.answerHeaders);
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
    this.#outgoing.watch.onGone = undefined;
    if (result.kind === "broken") this.#relay.break();
    this.#settle(result);
  }

  /** Security 18: a pod that took over the address must not answer for this version. */
  #recognise({ fault, versionUid }: AnswerHead): RuntimeFault | undefined {
    const known = fault === undefined ? undefined : parseRuntimeFault(fault);
    if (known === "wrong-version") return known;
    if (versionUid !== this.#call.versionUid) {
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
    if (this.#outgoing.watch.gone) return { kind: "gone" };
    // A refusing pod may close before it has sent all of its text; the head has said enough.
    if (this.#fault !== undefined) return this.#faultResult(this.#fault);
    if (!this.#sent && !(error instanceof errors.InvalidArgumentError)) return { kind: "unsent" };
    return { kind: this.#begun ? "broken" : "fault", fault: this.#faultOf(error), runMs: this.#runMs };
  }

  #faultOf(error: Error): CallFault {
    if (error instanceof DeadlineError) return makeDeadlineFault(this.#call.timeoutSec);
    if (error instanceof BodyTooLargeError) return makeBodyTooLargeFault(this.#outgoing.maxBodyBytes);
    if (error instanceof InvalidAnswerError) return makeInvalidAnswerFault(error.message, error.source);
    if (error instanceof errors.InvalidArgumentError) return makeInvalidRequestFault(error.message);
    if (isSocketFailure(error)) return makeExitedFault();
    if (error instanceof errors.HeadersOverflowError) {
      return makeInvalidAnswerFault(`its headers are larger than ${MAX_ANSWER_HEAD_BYTES} bytes`, "function");
    }
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

/** What an attempt teaches about the pod. */
const learn = (endpoint: Endpoint, result: AttemptResult): void => {
  if (result.kind === "unsent") endpoint.backOff();
  else if (result.kind !== "refused") endpoint.markAnswered();
  else if (result.reason === "draining" || result.reason === "wrong-version") endpoint.stopAccepting();
  else endpoint.backOff();
};

/** Sends a call to one pod, once, and passes the answer on. Never rejects. */
export const sendOnce = (endpoint: Endpoint, outgoing: Outgoing): Promise<AttemptResult> =>
  new Promise((resolve) => {
    const { call, body } = outgoing;
    const client = endpoint.takeClient();
    const settle = (result: AttemptResult): void => {
      endpoint.giveClient(client);
      learn(endpoint, result);
      resolve(result);
    };
    const method = call.request.method ?? "GET";
    const options = { method, path: call.path, headers: call.headers, body: body.open() };
    client.dispatch(options, new Attempt(outgoing, settle));
  });
