/**
 * The call table: one small file per worker that says what each of its connections is at. It outlives a worker that
 * dies at any instruction, so that the supervisor knows which connections it owes an answer, and costs nothing per call:
 * the worker writes into its own memory, and a thread of it copies that to the file while calls are in progress.
 */
import { accessSync, closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CALL_IDLE,
  FLAG_ABORTED,
  FLAG_COMPLETE,
  MAX_ID_BYTES,
  OFFSET_BEAT,
  OFFSET_DEADLINE,
  OFFSET_FLAGS,
  OFFSET_ID,
  OFFSET_ID_LENGTH,
  OFFSET_STARTED,
  RECORD_BYTES,
  recordPosition,
} from "../shared/call-table-layout.js";

export interface CallRecord {
  readonly slot: number;
  readonly state: number;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  readonly started: number;
  readonly requestId: string;
}

export interface TableHeader {
  /** When the worker's event loop last turned, in monotonic milliseconds; 0 before the first time. */
  readonly beat: number;
  /** Whether the function itself called `process.abort()`. */
  readonly aborted: boolean;
  /** Whether the worker wrote all records before it ended. */
  readonly complete: boolean;
}

/** Memory rather than a disk where there is such a place: a write to it costs half as much. */
const memoryDirectory = (): string => {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
};

/** The supervisor's side: makes the file, hands its descriptor to a worker, reads it. */
export class CallTable {
  readonly fd: number;
  readonly #buffer: Buffer;
  #slotsInUse = 0;

  constructor(private readonly maxSlots: number) {
    const directory = mkdtempSync(join(memoryDirectory(), "sless-calls-"));
    this.fd = openSync(join(directory, "table"), "w+", 0o600);
    // Only the descriptors keep the file: it goes with the two processes, however they end.
    rmSync(directory, { recursive: true });
    this.#buffer = Buffer.alloc(recordPosition(maxSlots));
    // All blocks are taken now, so that a function which fills the disk later cannot make a call's `pwrite` fail.
    writeSync(this.fd, this.#buffer, 0, this.#buffer.length, 0);
  }

  /** Says that a slot is in use from now on, so that reads cover it. */
  cover(slot: number): void {
    if (slot >= this.maxSlots) throw new RangeError(`slot ${String(slot)} is beyond the call table`);
    this.#slotsInUse = Math.max(this.#slotsInUse, slot + 1);
  }

  header(): TableHeader {
    readSync(this.fd, this.#buffer, 0, RECORD_BYTES, 0);
    const flags = this.#buffer[OFFSET_FLAGS] ?? 0;
    return {
      beat: this.#buffer.readDoubleLE(OFFSET_BEAT),
      aborted: (flags & FLAG_ABORTED) !== 0,
      complete: (flags & FLAG_COMPLETE) !== 0,
    };
  }

  record(slot: number): CallRecord {
    readSync(this.fd, this.#buffer, recordPosition(slot), RECORD_BYTES, recordPosition(slot));
    return this.#decode(slot);
  }

  /** The calls in progress. */
  calls(): CallRecord[] {
    if (this.#slotsInUse === 0) return [];
    readSync(this.fd, this.#buffer, RECORD_BYTES, this.#slotsInUse * RECORD_BYTES, RECORD_BYTES);
    const found: CallRecord[] = [];
    for (let slot = 0; slot < this.#slotsInUse; slot++) {
      if (this.#buffer.readUInt32LE(recordPosition(slot)) !== CALL_IDLE) found.push(this.#decode(slot));
    }
    return found;
  }

  close(): void {
    closeSync(this.fd);
  }

  #decode(slot: number): CallRecord {
    const at = recordPosition(slot);
    const idLength = Math.min(this.#buffer.readUInt32LE(at + OFFSET_ID_LENGTH), MAX_ID_BYTES);
    return {
      slot,
      state: this.#buffer.readUInt32LE(at),
      deadline: this.#buffer.readDoubleLE(at + OFFSET_DEADLINE),
      started: this.#buffer.readDoubleLE(at + OFFSET_STARTED),
      requestId: this.#buffer.toString("latin1", at + OFFSET_ID, at + OFFSET_ID + idLength),
    };
  }
}
