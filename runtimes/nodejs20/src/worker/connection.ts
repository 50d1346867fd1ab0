import type { Socket } from "node:net";
import type { Call } from "./call.js";
import type { CallRecordWriter } from "./call-table-writer.js";

/** One connection of the gateway, with its slot in the call table. The supervisor holds a duplicate of its descriptor. */
export class Connection {
  /** Requests begun and not yet answered; more than one only when the peer pipelines. */
  pending = 0;
  /** The admitted call, if any. */
  call: Call | undefined;
  /** How it was given up: the supervisor ends its duplicate accordingly. */
  end: "closed" | "reset" | "released" = "closed";

  constructor(
    readonly slot: number,
    readonly socket: Socket,
    readonly record: CallRecordWriter,
  ) {}

  /** Ends it in a way that no caller can take for the end of an answer. */
  reset(): void {
    this.end = "reset";
    this.socket.destroy();
  }

  /**
   * Gives an idle connection back to the supervisor. Closing this process's descriptor sends nothing to the peer, since
   * the supervisor has a duplicate; a request that arrives meanwhile waits in the kernel for the next worker. One that
   * is ending already ends.
   */
  release(): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.end = "released";
    this.socket.destroy();
  }
}
