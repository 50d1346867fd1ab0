import { randomUUID } from "node:crypto";
import { PLATFORM_HEADER_PREFIX } from "../shared/protocol.js";

/** Null-prototype, since header names come from outside. */
export type HeaderMap = Record<string, string>;
export type MultiHeaderMap = Record<string, string[]>;

/** A request's head, taken apart in one pass: what the handler sees, and what the gateway said. */
export interface RequestHead {
  readonly headers: HeaderMap;
  readonly multiValueHeaders: MultiHeaderMap;
  readonly requestId: string;
  /** The `x-sless-*` headers by their names in lower case. */
  readonly platform: HeaderMap;
}

const emptyMap = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/**
 * @param rawHeaders names and values in turn, as Node gives them: values are Latin-1 text, whatever bytes came
 */
export const parseRequestHead = (rawHeaders: readonly string[]): RequestHead => {
  const headers = emptyMap<string>();
  const multiValueHeaders = emptyMap<string[]>();
  const platform = emptyMap<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    if (name.startsWith(PLATFORM_HEADER_PREFIX)) {
      platform[name] = value;
      continue;
    }
    const earlier = multiValueHeaders[name];
    if (earlier === undefined) {
      headers[name] = value;
      multiValueHeaders[name] = [value];
    } else {
      headers[name] = `${headers[name] ?? ""}, ${value}`;
      earlier.push(value);
    }
  }
  return { headers, multiValueHeaders, platform, requestId: platform["x-sless-request-id"] ?? randomUUID() };
};

/** Whether a body follows the head (RFC 9112, section 6.3), and its length where it is declared. */
export const declaredBody = (
  headers: HeaderMap,
): { readonly present: boolean; readonly length: number | undefined } => {
  const length = headers["content-length"];
  if (length !== undefined) return { present: length !== "0", length: Number(length) };
  return { present: headers["transfer-encoding"] !== undefined, length: undefined };
};
