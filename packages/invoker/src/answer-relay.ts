import type { ServerResponse } from "node:http";
import { filterTrailers, type AnswerHead, type HeaderList } from "./headers.js";

const NO_CONTENT = 204;

/** RFC 9110 8.6: no Content-Length in a 204. */
const withoutLength = (headers: HeaderList): HeaderList => {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
  return at < 0 ? headers : headers.toSpliced(at, 2);
};

/** Passes one answer to the client, byte for byte and with back-pressure. */
export class AnswerRelay {
  readonly #response: ServerResponse;
  #left: number | undefined;
  #wrote = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** @throws when the head is not valid HTTP, before anything was sent. */
  begin(status: number, head: AnswerHead, platformHeaders: HeaderList): void {
    const headers = status === NO_CONTENT ? withoutLength(head.headers) : head.headers;
    headers.push(...platformHeaders);
    this.#response.writeHead(status, headers);
    this.#left = head.contentLength;
    // node:http holds the head back until the first byte of the body, which a slow stream may send much later.
    if (this.#left === undefined) setImmediate(() => this.#wrote || this.#response.flushHeaders());
  }

  /** @returns false when the client is slow: the source has to pause until `resume` is called. */
  write(chunk: Buffer, resume: () => void): boolean {
    this.#wrote = true;
    if (this.#left !== undefined && (this.#left -= chunk.length) === 0) {
      this.#response.end(chunk);
      return true;
    }
    if (this.#response.write(chunk)) return true;
    this.#response.once("drain", resume);
    return false;
  }

  end(trailers: readonly (Buffer | string)[]): void {
    if (trailers.length > 0 && this.#left === undefined) this.#response.addTrailers(filterTrailers(trailers));
    if (!this.#response.writableEnded) this.#response.end();
  }

  /** A broken answer must never look whole: the connection goes. */
  break(): void {
    this.#response.destroy();
  }
}
