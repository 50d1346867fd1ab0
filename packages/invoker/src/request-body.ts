import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { ClientGoneError } from "./client-watch.js";
import type { ReplayBudget } from "./replay-budget.js";

/** A client sent more than a call may carry. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** Bodies up to this are read whole before an instance is chosen: a slow upload then occupies none. */
const BUFFERED_BYTES = 64 * 1024;

/**
 * A request's body, as each attempt to send it sees it. A pod refuses a call before it reads the body, so a refused
 * body may be sent again to another pod; no handler ever sees a byte twice. See docs of `readRequestBody`.
 */
export interface RequestBody {
  /** Bytes, when the client said so or all have come. */
  readonly contentLength: number | undefined;
  /** False once more went out than is kept. */
  readonly repeatable: boolean;
  /** The whole body for one attempt, from its beginning. Ends the stream of the attempt before. */
  open(): Buffer | Readable | null;
  /** Ends reading and frees what was kept. */
  close(): void;
}

const NO_BODY: RequestBody = {
  contentLength: undefined,
  repeatable: true,
  open: () => null,
  close: () => undefined,
};

const bufferedBody = (bytes: Buffer): RequestBody => ({
  contentLength: bytes.length,
  repeatable: true,
  open: () => bytes,
  close: () => undefined,
});

interface BodyOptions {
  readonly maxBytes: number;
  readonly replay: ReplayBudget;
}

/**
 * Passes a large body on as it comes. What went out is kept, as far as the shared budget allows, until the answer
 * begins: then a refusal can be followed by another attempt.
 */
class StreamedBody implements RequestBody {
  readonly contentLength: number | undefined;
  readonly #request: IncomingMessage;
  readonly #options: BodyOptions;
  #kept: Buffer[] | undefined;
  #keptBytes = 0;
  #received = 0;
  #ended = false;
  #stream: Readable | undefined;

  constructor(request: IncomingMessage, prefix: Buffer[], options: BodyOptions) {
    this.#request = request;
    this.#options = options;
    this.contentLength = declaredLength(request);
    this.#kept = [];
    for (const chunk of prefix) this.#keep(chunk);
    this.#received = prefix.reduce((sum, chunk) => sum + chunk.length, 0);
    request.on("data", this.#onData).on("end", this.#onEnd).pause();
  }

  get repeatable(): boolean {
    return this.#kept !== undefined;
  }

  open(): Readable {
    this.#stream?.destroy();
    const stream = new Readable({ read: () => void this.#request.resume() });
    stream.on("error", () => undefined);
    for (const chunk of this.#kept ?? []) stream.push(chunk);
    if (this.#ended) stream.push(null);
    this.#stream = stream;
    return stream;
  }

  close(): void {
    this.#forget();
    this.#request.off("data", this.#onData).off("end", this.#onEnd);
    this.#stream?.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.#received > this.#options.maxBytes) {
      this.#request.pause();
      this.#stream?.destroy(new BodyTooLargeError());
      return;
    }
    this.#keep(chunk);
    if (this.#stream === undefined || this.#stream.destroyed || !this.#stream.push(chunk)) this.#request.pause();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#stream?.push(null);
  };

  #keep(chunk: Buffer): void {
    if (this.#kept === undefined) return;
    if (!this.#options.replay.take(chunk.length)) return this.#forget();
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
  }

  #forget(): void {
    this.#options.replay.give(this.#keptBytes);
    this.#kept = undefined;
    this.#keptBytes = 0;
  }
}

const declaredLength = (request: IncomingMessage): number | undefined => {
  const text = request.headers["content-length"];
  return text === undefined ? undefined : Number(text);
};

const hasBody = (request: IncomingMessage, length: number | undefined): boolean =>
  length === undefined ? request.headers["transfer-encoding"] !== undefined : length > 0;

/** Reads until the end, or until more has come than is buffered. */
const readBeginning = (request: IncomingMessage): Promise<{ chunks: Buffer[]; whole: boolean }> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= BUFFERED_BYTES) return;
      request.pause();
      settle(() => resolve({ chunks, whole: false }));
    };
    const onEnd = (): void => settle(() => resolve({ chunks, whole: true }));
    const onClose = (): void => settle(() => reject(new ClientGoneError()));
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });

/**
 * Makes a request's body ready to be sent, perhaps several times. It takes time only where there is a body to buffer.
 *
 * Bodies of up to 64 KiB are read whole here. Larger ones are passed on as they come, with back-pressure; a copy of
 * what went out is kept within a budget shared by all calls. Above the budget the copy is dropped, and then a refusal
 * ends the call instead of leading to another attempt.
 *
 * @throws BodyTooLargeError when the body is larger than `maxBytes`; a body without a declared length raises it later,
 *   on the stream of the attempt.
 * @throws ClientGoneError when the client goes away first.
 */
export const readRequestBody = (request: IncomingMessage, options: BodyOptions): RequestBody | Promise<RequestBody> => {
  const length = declaredLength(request);
  if (!hasBody(request, length)) return NO_BODY;
  if (length !== undefined && length > options.maxBytes) throw new BodyTooLargeError();
  if (length !== undefined && length > BUFFERED_BYTES) return new StreamedBody(request, [], options);
  return bufferBody(request, options);
};

const bufferBody = async (request: IncomingMessage, options: BodyOptions): Promise<RequestBody> => {
  const { chunks, whole } = await readBeginning(request);
  const first = chunks[0];
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  if (bytes.length > options.maxBytes) throw new BodyTooLargeError();
  return whole ? bufferedBody(bytes) : new StreamedBody(request, chunks, options);
};
