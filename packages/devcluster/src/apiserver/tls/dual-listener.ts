import { createServer as createHttp, type RequestListener, type Server as HttpServer } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer as createTcp, type AddressInfo, type Socket } from "node:net";
import type { Certificate } from "./self-signed.js";

const TLS_HANDSHAKE = 0x16;
const FIRST_BYTE_MS = 10_000;

export interface DualListener {
  listen(port: number, host: string): Promise<AddressInfo>;
  address(): AddressInfo | null;
  close(): Promise<void>;
}

/** Reads the first byte of a connection, which tells TLS from plain HTTP, and puts it back. */
const dispatch = (socket: Socket, servers: { http: HttpServer; https: HttpServer }): void => {
  socket.setTimeout(FIRST_BYTE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.once("data", (first) => {
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    socket.pause();
    socket.unshift(first);
    (first[0] === TLS_HANDSHAKE ? servers.https : servers.http).emit("connection", socket);
    process.nextTick(() => socket.resume());
  });
};

const KEEP_ALIVE_MS = 120_000;
const CLOSE_GRACE_MS = 200;

/** One port for HTTP and HTTPS alike. */
export const createDualListener = (certificate: Certificate, onRequest: RequestListener): DualListener => {
  const http = createHttp(onRequest);
  const https = createHttps(certificate, onRequest) as unknown as HttpServer;
  // Clients keep connections much longer than Node.js does by itself, and would meet a closed one.
  for (const server of [http, https]) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const sockets = new Set<Socket>();
  const tcp = createTcp((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    dispatch(socket, { http, https });
  });
  return {
    address: () => tcp.address() as AddressInfo | null,
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        tcp.once("error", reject);
        tcp.listen(port, host, () => {
          tcp.off("error", reject);
          resolve(tcp.address() as AddressInfo);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        http.closeIdleConnections();
        https.closeIdleConnections();
        // Watches never end by themselves, so what is still open after a moment is cut.
        const cut = setTimeout(() => sockets.forEach((socket) => socket.destroy()), CLOSE_GRACE_MS);
        tcp.close(() => {
          clearTimeout(cut);
          resolve();
        });
      }),
  };
};
