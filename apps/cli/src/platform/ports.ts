import { createServer } from "node:net";

const LOOPBACK = "127.0.0.1";

/**
 * A port on loopback: the wanted one if it is free.
 * @param wanted 0 for any
 * @returns the port, free a moment ago
 */
export const findPort = async (wanted: number): Promise<number> => (await tryPort(wanted)) ?? (await findPort(0));

/** The port if it can be listened on now, else undefined. */
export const tryPort = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
