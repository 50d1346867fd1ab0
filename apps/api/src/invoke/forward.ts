import { HEADERS } from "@sless/contracts";
import type { Request, Response } from "express";
import { pipeline } from "node:stream/promises";
import { Agent, errors, type Dispatcher } from "undici";
import { TookTooLong, Unavailable } from "../errors.js";
import { ClientGone } from "../http/lifetime.js";
import { REQUEST_ID_HEADER } from "../http/request-id.js";
import { errorCode } from "../platform/error-code.js";
import { responseHeaders } from "./headers.js";

export interface Forwarder {
  /** Sends the request to the gateway and streams the answer back. Never sends twice. */
  forward(req: Request, res: Response, call: ForwardedCall): Promise<void>;
  close(): Promise<void>;
}

export interface ForwardedCall {
  /** Raw path and query at the gateway. */
  readonly path: string;
  readonly headers: string[];
  readonly signal: AbortSignal;
}

export interface ForwarderOptions {
  readonly gatewayUrl: string;
  /** Longest wait for the answer's head; beyond every function's timeout and the gateway's queue. */
  readonly headTimeoutMs: number;
}

const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const explain = (error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  if (error instanceof errors.HeadersTimeoutError) return new TookTooLong("The call was not answered in time.");
  const detail = NEVER_SENT.has(errorCode(error))
    ? "The gateway can't be reached; the function was not called. Try again."
    : "The connection to the gateway broke; whether the function ran is not known.";
  return new Unavailable(detail, 2, { cause: error });
};

const hasBody = (req: Request): boolean =>
  req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;

const writeHead = (res: Response, statusCode: number, rawHeaders: readonly string[]): void => {
  res.status(statusCode);
  const headers = responseHeaders(rawHeaders);
  for (const [name, values] of headers) res.setHeader(name, values.length === 1 ? (values[0] ?? "") : values);
  // A problem's body names the gateway's id: the header has to be the same.
  const id = headers.get(HEADERS.requestId)?.[0];
  if (id !== undefined) res.setHeader(REQUEST_ID_HEADER, id);
  // An answer from tenant code must not act on the API's origin (security 20).
  res.setHeader("content-security-policy", "sandbox");
  res.setHeader("x-content-type-options", "nosniff");
};

const toRawHeaders = (headers: Buffer[] | string[]): string[] =>
  headers.map((part) => (typeof part === "string" ? part : part.toString("latin1")));

export const createForwarder = ({ gatewayUrl, headTimeoutMs }: ForwarderOptions): Forwarder => {
  const agent = new Agent({
    headersTimeout: headTimeoutMs,
    // Streams may pause: they end with the function's own timeout, which the gateway keeps.
    bodyTimeout: 0,
    pipelining: 1,
    connect: { timeout: 3_000 },
  });

  const call = (req: Request, { path, headers, signal }: ForwardedCall): Promise<Dispatcher.ResponseData> =>
    agent.request({
      origin: gatewayUrl,
      path,
      method: req.method,
      headers,
      body: hasBody(req) ? req : null,
      signal,
      responseHeaders: "raw",
    });

  return {
    forward: async (req, res, forwarded) => {
      let answer: Dispatcher.ResponseData;
      try {
        answer = await call(req, forwarded);
      } catch (error) {
        throw explain(error, forwarded.signal);
      }
      writeHead(res, answer.statusCode, toRawHeaders(answer.headers as unknown as string[]));
      res.flushHeaders();
      try {
        await pipeline(answer.body, res);
      } catch {
        // The head is out: breaking the connection is the only way left to say that the answer is not whole.
        res.destroy();
      }
    },
    close: () => agent.destroy(new ClientGone("the replica stops")),
  };
};
