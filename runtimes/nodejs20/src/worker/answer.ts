import { AnswerHeaders, parseAnswerHeaders } from "./answer-headers.js";
import { BadResult, typeName } from "./bad-result.js";
import { toJson } from "./json.js";
import { asStream } from "./stream-source.js";

/** What is sent: a body in one piece, or a source of pieces. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string | Buffer | AsyncIterable<unknown>;
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
const BYTES = "application/octet-stream";

const asBytes = (value: unknown): Buffer | undefined => {
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? Buffer.from(value) : undefined;
};

/** 1xx are interim answers: one of them in place of the final answer would leave the caller waiting. */
const checkedStatus = (value: unknown): number => {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  if (typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599) return status;
  const shown = typeof value === "string" || typeof value === "number" ? JSON.stringify(value) : typeName(value);
  throw new BadResult(`statusCode is ${shown.slice(0, 80)}: use a whole number from 200 to 599`);
};

const decodeBase64 = (body: unknown): Buffer => {
  if (typeof body !== "string" || /[^A-Za-z0-9+/=_\-\s]/.test(body)) {
    throw new BadResult("isBase64Encoded is true, but the body is not base64 text");
  }
  return Buffer.from(body, "base64");
};

interface Body {
  readonly content: Answer["body"];
  readonly defaultType: string | undefined;
}

const envelopeBody = (body: unknown, isBase64Encoded: boolean): Body => {
  if (body === undefined || body === null) return { content: "", defaultType: undefined };
  if (isBase64Encoded) return { content: decodeBase64(body), defaultType: BYTES };
  if (typeof body === "string") return { content: body, defaultType: TEXT };
  const bytes = asBytes(body);
  if (bytes !== undefined) return { content: bytes, defaultType: BYTES };
  const stream = asStream(body);
  if (stream !== undefined) return { content: stream, defaultType: BYTES };
  return { content: toJson(body), defaultType: JSON_TYPE };
};

const envelopeAnswer = (envelope: Record<string, unknown>): Answer => {
  const status = checkedStatus(envelope.statusCode);
  const headers = parseAnswerHeaders(envelope.headers, envelope.multiValueHeaders);
  const body = envelopeBody(envelope.body, envelope.isBase64Encoded === true);
  if (body.defaultType !== undefined && !headers.has("content-type")) headers.set("content-type", [body.defaultType]);
  return { status, headers, body: body.content };
};

const plainAnswer = (body: Answer["body"], type: string): Answer => {
  const headers = new AnswerHeaders();
  headers.set("content-type", [type]);
  return { status: 200, headers, body };
};

/**
 * Makes the answer of what a handler returned: an object with `statusCode` is an envelope, a stream or generator is
 * streamed, a string is text, anything else is JSON.
 *
 * @throws BadResult when the result has no form in HTTP
 */
export const toAnswer = (result: unknown): Answer => {
  if (result === undefined || result === null) return plainAnswer("null", JSON_TYPE);
  if (typeof result === "string") return plainAnswer(result, TEXT);
  if (typeof result !== "object") return plainAnswer(toJson(result), JSON_TYPE);
  if ((result as Record<string, unknown>).statusCode !== undefined && !Array.isArray(result)) {
    return envelopeAnswer(result as Record<string, unknown>);
  }
  if (asBytes(result) !== undefined) {
    throw new BadResult(`a bare ${typeName(result)} is not an answer: return it as the body beside a statusCode`);
  }
  const stream = asStream(result);
  return stream === undefined ? plainAnswer(toJson(result), JSON_TYPE) : plainAnswer(stream, BYTES);
};
