import { randomUUID } from "node:crypto";
import { PLATFORM_HEADER_PREFIX } from "../shared/protocol.js";
import { makeNameMap } from "./name-map.js";
import type { NameMap } from "./name-map.js";

export type HeaderMap = NameMap<string>;
export type MultiHeaderMap = NameMap<string[]>;

/** A request's head, taken apart in one pass: what the handler sees, and what the gateway said. */
export class RequestHead {
  readonly headers: HeaderMap = makeNameMap();
  readonly multiValueHeaders: MultiHeaderMap = makeNameMap();
  requestId = "";
  /** Milliseconds as sent; undefined when the gateway set no deadline. */
  deadlineMs: string | undefined = undefined;
  versionUid: string | undefined = undefined;
  /** base64url of JSON. */
  context: string | undefined = undefined;

  /** @param rawHeaders names and values in turn, as Node gives them: values are Latin-1 text, whatever bytes came */
  constructor(rawHeaders: readonly string[]) {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const name = (rawHeaders[i] as string).toLowerCase();
      const value = rawHeaders[i + 1] as string;
      if (name.startsWith(PLATFORM_HEADER_PREFIX)) this.#takePlatform(name, value);
      else this.#take(name, value);
    }
    if (this.requestId === "") this.requestId = randomUUID();
  }

  #take(name: string, value: string): void {
    const earlier = this.multiValueHeaders[name];
    if (earlier === undefined) {
      this.headers[name] = value;
      this.multiValueHeaders[name] = [value];
    } else {
      this.headers[name] = `${earlier.join(", ")}, ${value}`;
      earlier.push(value);
    }
  }

  #takePlatform(name: string, value: string): void {
    if (name === "x-sless-request-id") this.requestId = value;
    else if (name === "x-sless-deadline-ms") this.deadlineMs = value;
    else if (name === "x-sless-version-uid") this.versionUid = value;
    else if (name === "x-sless-context") this.context = value;
  }
}

/** Whether a body follows the head (RFC 9112, section 6.3), and its length where it is declared. */
export const declaredBody = (
  headers: HeaderMap,
): { readonly present: boolean; readonly length: number | undefined } => {
  const length = headers["content-length"];
  if (length !== undefined) return { present: length !== "0", length: Number(length) };
  return { present: headers["transfer-encoding"] !== undefined, length: undefined };
};
