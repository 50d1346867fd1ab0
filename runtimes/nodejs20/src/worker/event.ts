import { isUtf8 } from "node:buffer";
import { parseQuery } from "./query.js";
import type { NameMap } from "./name-map.js";
import type { HeaderMap, MultiHeaderMap, RequestHead } from "./request-head.js";

/** The first argument of a handler, as on Yandex Cloud Functions and AWS Lambda. All maps inherit nothing. */
export interface FunctionEvent {
  httpMethod: string;
  path: string;
  headers: HeaderMap;
  multiValueHeaders: MultiHeaderMap;
  queryStringParameters: NameMap<string>;
  multiValueQueryStringParameters: NameMap<string[]>;
  body: string;
  isBase64Encoded: boolean;
  requestContext: Record<string, unknown>;
}

let lastSecond = 0;
let lastPrefix = "";

/** RFC 3339 with milliseconds; all but those are made once per second. */
const timeText = (timestamp: number): string => {
  const milliseconds = timestamp % 1000;
  if (timestamp - milliseconds !== lastSecond) {
    lastSecond = timestamp - milliseconds;
    lastPrefix = new Date(timestamp).toISOString().slice(0, -4);
  }
  return `${lastPrefix}${milliseconds < 10 ? "00" : milliseconds < 100 ? "0" : ""}${String(milliseconds)}Z`;
};

/**
 * What the gateway knows about the call. It is trusted to be JSON of an object; anything else leaves the context empty
 * rather than failing the call.
 */
const parseContext = (encoded: string): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return {};
    return parsed as Record<string, unknown>;
  } catch {
    return {};
  }
};

const makeRequestContext = (method: string, head: RequestHead): Record<string, unknown> => {
  const timestamp = Date.now();
  const own = {
    requestId: head.requestId,
    identity: { sourceIp: "", userAgent: head.headers["user-agent"] ?? "" },
    httpMethod: method,
    requestTime: timeText(timestamp),
    timestamp,
  };
  if (head.context === undefined) return own;
  const { identity, sourceIp, ...given } = parseContext(head.context);
  const known = { ...own.identity, ...(typeof sourceIp === "string" && { sourceIp }), ...(identity as object) };
  return { ...given, ...own, identity: known };
};

/**
 * Makes the event of one call.
 *
 * @param target the request target as received: its path is neither decoded nor normalized
 * @param body the whole body; `undefined` when the request has none
 */
export const makeEvent = (
  method: string,
  target: string,
  head: RequestHead,
  body: Buffer | undefined,
): FunctionEvent => {
  const mark = target.indexOf("?");
  const query = parseQuery(mark < 0 ? "" : target.slice(mark + 1));
  const isText = body === undefined || isUtf8(body);
  return {
    httpMethod: method,
    path: (mark < 0 ? target : target.slice(0, mark)) || "/",
    headers: head.headers,
    multiValueHeaders: head.multiValueHeaders,
    queryStringParameters: query.single,
    multiValueQueryStringParameters: query.multi,
    body: body === undefined ? "" : body.toString(isText ? "utf8" : "base64"),
    isBase64Encoded: !isText,
    requestContext: makeRequestContext(method, head),
  };
};
