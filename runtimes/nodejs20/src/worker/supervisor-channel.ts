import type { Socket } from "node:net";
import type { ToSupervisor, ToWorker } from "../shared/protocol.js";

/** The worker's end of the channel to its supervisor. */
export interface SupervisorChannel {
  send(message: ToSupervisor): void;
  /** Registers the one receiver of messages; a `connection` message comes with its socket. */
  receive(onMessage: (message: ToWorker, socket: Socket | undefined) => void): void;
}

/**
 * Takes Node's channel away from the function's code: libraries look for `process.send` to learn whether they run under
 * a process manager, and would talk to the supervisor. When the supervisor is gone, so is this process.
 */
export const takeSupervisorChannel = (): SupervisorChannel => {
  const send = process.send?.bind(process);
  if (send === undefined) throw new Error("worker.js is started by supervisor.js, not by hand");
  delete process.send;
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  return {
    send: (message) => void send(message),
    receive: (onMessage) => {
      process.on("message", (message, handle) => onMessage(message as ToWorker, handle as Socket | undefined));
    },
  };
};
