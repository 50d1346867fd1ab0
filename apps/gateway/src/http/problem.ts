import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS, makeProblem, type Problem, type ProblemKind } from "@sless/contracts";
import { distrustConnection } from "./distrust.js";

/** An error answer. `reason` and `source` are for machines: `x-sless-fault`, `x-sless-fault-source`. */
export interface ErrorAnswer {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly source: "platform" | "function";
  readonly reason: string;
  readonly errorType?: string;
  readonly retryAfterSec?: number;
  /** Further headers, name to value. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection can't be used again: what follows on it is not sure to be a request. */
  readonly close?: boolean;
}

/** How long a client may go on sending a body that nobody wants, so that it gets to read the answer. */
const LINGER_MS = 2_000;

export const makeErrorAnswer = (
  kind: ProblemKind,
  reason: string,
  detail: string,
  more: Pick<ErrorAnswer, "headers" | "retryAfterSec" | "close"> = {},
): ErrorAnswer => ({ kind, reason, detail, source: "platform", ...more });

const problemOf = ({ kind, detail, reason, errorType }: ErrorAnswer, requestId: string): Problem =>
  makeProblem(kind, detail, requestId, { reason, ...(errorType === undefined ? {} : { error_type: errorType }) });

const headersOf = (answer: ErrorAnswer, requestId: string): Record<string, string> => ({
  "content-type": "application/problem+json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  [HEADERS.requestId]: requestId,
  [HEADERS.faultSource]: answer.source,
  [HEADERS.fault]: answer.reason,
  ...(answer.retryAfterSec === undefined ? {} : { "retry-after": String(answer.retryAfterSec) }),
  ...(answer.close === true ? { connection: "close" } : {}),
  ...answer.headers,
});

/**
 * Ends an answer whose bytes are out already once the client has sent all. A connection that is not kept alive closes
 * with the answer's end: at once, that would reset it while the client still sends, and lose the answer on its way.
 */
const linger = (request: IncomingMessage, response: ServerResponse): void => {
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
    if (!request.complete) request.destroy();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.once("end", finish).once("close", finish);
  request.resume();
};

/** Answers with RFC 9457 problem details. Does nothing when the client has gone. */
export const writeProblem = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  answer: ErrorAnswer,
): void => {
  if (response.headersSent || response.destroyed) return;
  if (answer.close === true) distrustConnection(request);
  const problem = problemOf(answer, requestId);
  const body = Buffer.from(JSON.stringify(problem));
  response.writeHead(problem.status, { ...headersOf(answer, requestId), "content-length": body.length });
  if (request.complete || answer.close === true) return void response.end(body);
  response.write(body);
  linger(request, response);
};

/** The same as bytes, for a connection on which no request could be read. */
export const rawProblem = (requestId: string, answer: ErrorAnswer): string => {
  const problem = problemOf(answer, requestId);
  const body = JSON.stringify(problem);
  const headers = { ...headersOf(answer, requestId), "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join("")}\r\n${body}`;
};
