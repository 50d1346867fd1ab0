import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Address } from "@sless/contracts";
import { isDistrusted } from "./distrust.js";
import { makeErrorAnswer, rawProblem, type ErrorAnswer } from "./problem.js";

/** A client's request line and headers together; more gets 431. */
export const MAX_REQUEST_HEAD_BYTES = 32 * 1024;
/** Bounds against clients that send slowly on purpose: the head, and the whole request. */
const HEAD_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
const CHECK_INTERVAL_MS = 5_000;
/** Longer than load balancers keep idle connections (60 s is common), so that they close first and never meet a RST. */
const KEEP_ALIVE_MS = 75_000;

/** Idle connections are looked for this often while the listener closes. */
const CLOSE_IDLE_INTERVAL_MS = 100;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Listener {
  readonly address: Address;
  /** From now on each answer asks its client to go elsewhere. */
  startDraining(): void;
  /** Takes no more connections; resolves when the last call has ended, or at the signal, which cuts what is left. */
  close(signal: AbortSignal): Promise<void>;
}

export interface ListenerOptions {
  readonly address: Address;
  readonly maxConnections: number;
  readonly handle: RequestHandler;
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorAnswer>> = {
  HPE_HEADER_OVERFLOW: makeErrorAnswer(
    "headers-too-large",
    "headers-too-large",
    `The request line and headers are larger than ${MAX_REQUEST_HEAD_BYTES} bytes.`,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: makeErrorAnswer(
    "request-timeout",
    "request-timeout",
    `The request was not complete in time: headers within ${HEAD_TIMEOUT_MS / 1000} s, all of it within ${REQUEST_TIMEOUT_MS / 1000} s.`,
  ),
};

const MALFORMED = makeErrorAnswer("invalid-request", "bad-request", "The request is not valid HTTP/1.1.");

/**
 * node:http can't read on: no request that it could hand over, or a body whose chunks are none. The answer is written by
 * hand and the connection closed.
 */
const onClientError = (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse }): void => {
  // An answer under way would be mixed with this one.
  const isAnswering = socket._httpMessage?.headersSent === true;
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering) return void socket.destroy();
  const answer = CLIENT_ERRORS[error.code ?? ""] ?? MALFORMED;
  socket.end(rawProblem(randomUUID(), answer), () => socket.destroy());
};

/** Opens a listener with bounds on everything that a client can stretch. @throws the listen error. */
export const openListener = async ({ address, maxConnections, handle }: ListenerOptions): Promise<Listener> => {
  let isDraining = false;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (isDistrusted(request)) return;
    if (isDraining) response.shouldKeepAlive = false;
    handle(request, response);
  };
  const server = createServer({
    maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The guard refuses such requests itself, and then takes no more from the connection.
    requireHostHeader: false,
  });
  // Beyond this count node:http drops headers in silence; the head's size bounds them already.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  server.on("request", onRequest);
  // Without this node:http would ask for the body of a call that is refused anyway.
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    request.once("resume", () => response.headersSent || response.writeContinue());
    onRequest(request, response);
  });
  server.on("clientError", onClientError);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: { host: bound.address, port: bound.port },
    startDraining: () => (isDraining = true),
    close: (signal) =>
      new Promise((resolve) => {
        // A connection that becomes idle only now would otherwise stay for its whole keep-alive time.
        const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_INTERVAL_MS);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
        const cut = (): void => server.closeAllConnections();
        if (signal.aborted) cut();
        else signal.addEventListener("abort", cut, { once: true });
      }),
  };
};
