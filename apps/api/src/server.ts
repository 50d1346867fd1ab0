import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { makeProblem, type Address, type Problem } from "@sless/contracts";

export interface ApiServer {
  /** Where it really listens, also when port 0 was asked for. */
  readonly address: Address;
  /** Takes no new connections, lets requests in flight finish for so long, then cuts them. */
  close(graceMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 15_000;
/** Longest time for a request's body: uploads over slow lines included. */
const REQUEST_TIMEOUT_MS = 600_000;
const MAX_HEADER_BYTES = 32 * 1024;

/** Why node:http handed no request over, or can't read a request's body on. */
const problemOf = (code: string | undefined): Problem => {
  const requestId = randomUUID();
  if (code === "HPE_HEADER_OVERFLOW") {
    const detail = `The request line and headers are larger than ${MAX_HEADER_BYTES} bytes.`;
    return makeProblem("headers-too-large", detail, requestId);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const limits = `headers within ${HEADERS_TIMEOUT_MS / 1000} s, all of it within ${REQUEST_TIMEOUT_MS / 1000} s`;
    return makeProblem("request-timeout", `The request was not complete in time: ${limits}.`, requestId);
  }
  return makeProblem("invalid-request", "The request is not valid HTTP/1.1.", requestId);
};

/** Such requests never reach the app, so their answer is written by hand, and the connection closed. */
const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse }): void => {
  // An answer under way would be mixed with this one.
  const isAnswering = socket._httpMessage?.headersSent === true;
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering) return void socket.destroy();
  const problem = problemOf(error.code);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
};

const configure = (server: Server): void => {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  // Longer than what load balancers keep idle connections, so that it is never the server who closes first.
  server.keepAliveTimeout = 75_000;
  server.on("clientError", refuseUnreadable);
};

/** Listens with bounds on slow and oversized heads. @throws the listen error, such as EADDRINUSE */
export const startServer = async (handler: RequestListener, { host, port }: Address): Promise<ApiServer> => {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, handler);
  configure(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: { host: bound.address, port: bound.port },
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
};
