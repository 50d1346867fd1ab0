import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** @returns `host:port` that the server listens on; rejects with EADDRINUSE when somebody else does */
export const listenOn = (server: Server, host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(`${host}:${(server.address() as AddressInfo).port}`);
    });
  });

/** Cuts every connection: whatever is going on ends here. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
