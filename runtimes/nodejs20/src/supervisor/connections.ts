import { CALL_ANSWERING, CALL_IDLE } from "../shared/call-table-layout.js";
import { MAX_CONNECTIONS } from "../shared/protocol.js";
import { makeFaultResponse } from "./fault-response.js";
import type { Socket } from "node:net";
import type { CallRecord } from "./call-table.js";
import type { WorkerFault } from "./fault-response.js";
import type { WorkerProcess } from "./worker-process.js";

/** How long a connection waits for a worker to become ready before it is told to go elsewhere. */
const HOLD_MS = 10_000;
/** After our last byte: how long and how much we still read, so that a reset cannot overtake the answer. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 16 * 1024 * 1024;

interface HeldConnection {
  readonly slot: number;
  readonly socket: Socket;
  worker: WorkerProcess | undefined;
  holdTimer: NodeJS.Timeout | undefined;
}

/** What is to be done about the connections of a dead worker. */
export interface Orphaning {
  readonly faultOf: (call: CallRecord) => WorkerFault;
  /** Whether the call table holds all calls. */
  readonly isComplete: boolean;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/**
 * The gateway's connections. The supervisor accepts them and keeps a duplicate of each descriptor, paused, while a
 * worker serves it: what a worker leaves behind when it dies, the supervisor answers or hands on.
 */
export class Connections {
  readonly #bySlot = new Map<number, HeldConnection>();
  readonly #freeSlots = Array.from({ length: MAX_CONNECTIONS }, (_, index) => MAX_CONNECTIONS - 1 - index);
  #worker: WorkerProcess | undefined;

  constructor(private readonly versionUid: string) {}

  accept(socket: Socket): void {
    socket.on("error", () => undefined);
    const slot = this.#freeSlots.pop();
    if (slot === undefined) {
      this.#end(socket, { fault: "busy", message: `${String(MAX_CONNECTIONS)} connections are open` });
      return;
    }
    const connection: HeldConnection = { slot, socket, worker: undefined, holdTimer: undefined };
    this.#bySlot.set(slot, connection);
    socket.once("close", () => {
      clearTimeout(connection.holdTimer);
      this.#bySlot.delete(slot);
      this.#freeSlots.push(slot);
    });
    this.#place(connection);
  }

  /** From now on connections go to this worker, those that wait for one first; undefined lets them wait. */
  route(worker: WorkerProcess | undefined): void {
    this.#worker = worker;
    if (worker === undefined) return;
    for (const connection of this.#bySlot.values()) {
      if (connection.worker === undefined && connection.socket.writable) this.#place(connection);
    }
  }

  /** A worker has given up a connection between two calls. */
  released(slot: number, worker: WorkerProcess): void {
    const connection = this.#heldBy(slot, worker);
    if (connection !== undefined) this.#place(connection);
  }

  /** A worker has ended a connection. */
  closed(slot: number, worker: WorkerProcess, reset: boolean): void {
    const connection = this.#heldBy(slot, worker);
    if (connection === undefined) return;
    if (reset) connection.socket.resetAndDestroy();
    else this.#end(connection.socket);
  }

  /**
   * A worker has died: calls get their fault, half-sent answers a reset, and idle connections the next worker. A
   * request that waits unread in the kernel is not lost with its worker. Where the table may lack a call of the last
   * milliseconds, every connection is told that the process ended: better that than a caller who waits for nothing.
   */
  orphaned(worker: WorkerProcess, { faultOf, isComplete, now }: Orphaning): void {
    for (const connection of this.#bySlot.values()) {
      if (connection.worker !== worker) continue;
      const call = worker.table.record(connection.slot);
      if (call.state === CALL_IDLE && isComplete) this.#place(connection);
      else if (call.state === CALL_ANSWERING) connection.socket.resetAndDestroy();
      else this.#end(connection.socket, faultOf(call), call.state === CALL_IDLE ? undefined : now - call.started);
    }
  }

  /** Ends every connection that no worker serves. */
  refuseWaiting(fault: WorkerFault): void {
    for (const connection of this.#bySlot.values()) {
      if (connection.worker === undefined && connection.socket.writable) this.#end(connection.socket, fault);
    }
  }

  #heldBy(slot: number, worker: WorkerProcess): HeldConnection | undefined {
    const connection = this.#bySlot.get(slot);
    return connection?.worker === worker ? connection : undefined;
  }

  #place(connection: HeldConnection): void {
    clearTimeout(connection.holdTimer);
    connection.worker = this.#worker;
    if (this.#worker !== undefined) {
      this.#worker.adopt(connection.slot, connection.socket);
      return;
    }
    connection.holdTimer = setTimeout(() => {
      this.#end(connection.socket, {
        fault: "not-ready",
        message: "the function's process did not become ready in time",
      });
    }, HOLD_MS);
  }

  #end(socket: Socket, fault?: WorkerFault, runMs?: number): void {
    if (fault === undefined) socket.end();
    else socket.end(makeFaultResponse(fault, this.versionUid, runMs));
    let dropped = 0;
    socket.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) socket.destroy();
    });
    // Accepted paused: a listener alone would not make it flow.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  }
}
