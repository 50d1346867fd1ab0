import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "@sless/contracts";

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

const configure = (server: Server): void => {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  // Longer than what load balancers keep idle connections, so that it is never the server who closes first.
  server.keepAliveTimeout = 75_000;
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
