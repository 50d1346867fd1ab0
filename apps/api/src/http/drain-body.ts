import type { IncomingMessage } from "node:http";

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 10_000;

/**
 * Reads and drops what is left of a refused body, within bounds. Closing at once would reset the connection, and the
 * client, still sending, would never read why it was refused.
 */
export const drainBody = (req: IncomingMessage): void => {
  if (req.complete || req.destroyed) return;
  let left = MAX_BYTES;
  const giveUp = (): void => void req.socket.destroy();
  const timer = setTimeout(giveUp, MAX_MS).unref();
  req.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) giveUp();
  });
  req.once("close", () => clearTimeout(timer));
  req.once("end", () => clearTimeout(timer));
  req.on("error", () => undefined);
  req.resume();
};
