import { randomUUID } from "node:crypto";
import { PLATFORM_HEADER_PREFIX } from "../shared/protocol.js";
import { makeNameMap } from "./name-map.js";
import type { NameMap } from "./name-map.js";

export type HeaderMap = NameMap<string>;
export type MultiHeaderMap = NameMap<string[]>;

/** A request's head, taken apart in one pass: what the handler sees, and what the gateway said. */
export interface RequestHead {
  readonly headers: HeaderMap;
  readonly multiValueHeaders: MultiHeaderMap;
  requestId: string;
  /** Milliseconds as sent; undefined when the gateway set no deadline. */
  deadlineMs: string | undefined;
  versionUid: string | undefined;
  /** base64url of JSON. */
  context: string | undefined;
}

/** @param rawHeaders names and values in turn, as Node gives them: values are Latin-1 text, whatever bytes came */
export const parseRequestHead = (rawHeaders: readonly string[]): RequestHead => {
  const head: RequestHead = {
    headers: makeNameMap(),
    multiValueHeaders: makeNameMap(),
    requestId: "",
    deadlineMs: undefined,
    versionUid: undefined,
    context: undefined,
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    if (name.startsWith(PLATFORM_HEADER_PREFIX)) takePlatform(head, name, value);
    else take(head, name, value);
  }
  if (head.requestId === "") head.requestId = randomUUID();
  return head;
};

const take = (head: RequestHead, name: string, value: string): void => {
  const earlier = head.multiValueHeaders[name];
  if (earlier === undefined) {
    head.headers[name] = value;
    head.multiValueHeaders[name] = [value];
  } else {
    head.headers[name] = `${earlier.join(", ")}, ${value}`;
    earlier.push(value);
  }
};

const takePlatform = (head: RequestHead, name: string, value: string): void => {
  if (name === "x-sless-request-id") head.requestId = value;
  else if (name === "x-sless-deadline-ms") head.deadlineMs = value;
  else if (name === "x-sless-version-uid") head.versionUid = value;
  else if (name === "x-sless-context") head.context = value;
};

/** Whether a body follows the head (RFC 9112, section 6.3), and its length where it is declared. */
export const declaredBody = (
  headers: HeaderMap,
): { readonly present: boolean; readonly length: number | undefined } => {
  const length = headers["content-length"];
  if (length !== undefined) return { present: length !== "0", length: Number(length) };
  return { present: headers["transfer-encoding"] !== undefined, length: undefined };
};
