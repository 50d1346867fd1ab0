import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Sockets whose next bytes are not sure to be a request. node:http hands over what follows in the same packet even when
 * the answer before it says `Connection: close`: that is how a smuggled request would get in.
 */
const distrusted = new WeakSet<Socket>();

/** Takes no further request from this connection. */
export const distrustConnection = ({ socket }: IncomingMessage): void => void distrusted.add(socket);

export const isDistrusted = ({ socket }: IncomingMessage): boolean => distrusted.has(socket);
