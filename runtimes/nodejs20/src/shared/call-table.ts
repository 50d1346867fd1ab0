/**
 * The call table: one small file per worker, written by the worker with one `pwrite` at the start of a call (about a
 * microsecond) and one after its end unless the next call comes first, read by the supervisor when it needs to know. It outlives a worker that dies at
 * any instruction, so the supervisor knows exactly which connections it owes an answer, at no cost of its own per call.
 */
import { accessSync, closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RECORD_BYTES = 128;
const OFFSET_DEADLINE = 8;
const OFFSET_STARTED = 16;
const OFFSET_ID_LENGTH = 24;
const OFFSET_ID = 28;
const MAX_ID_BYTES = RECORD_BYTES - OFFSET_ID;

/** What a connection is at: between calls, in a call whose answer has not begun, or in the middle of an answer. */
export const CALL_IDLE = 0;
export const CALL_RUNNING = 1;
export const CALL_ANSWERING = 2;

const HEADER_ABORTED_OFFSET = 8;

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
}

const positionOf = (slot: number): number => (slot + 1) * RECORD_BYTES;

/** How long an ended call may still stand as running: while calls follow each other, each costs one write, not two. */
const IDLE_WRITE_DELAY_MS = 5;
const ended: CallRecordWriter[] = [];

const writeEnded = (): void => {
  for (const record of ended) record.flushIfIdle();
  ended.length = 0;
};

const { setTimeout } = globalThis;

/** The worker's side of one connection's record. */
export class CallRecordWriter {
  readonly #buffer = Buffer.alloc(RECORD_BYTES);
  readonly #position: number;
  #isClosed = false;
  #isListed = false;

  constructor(
    private readonly fd: number,
    slot: number,
  ) {
    this.#position = positionOf(slot);
  }

  begin(requestId: string, started: number, deadline: number): void {
    const buffer = this.#buffer;
    buffer.writeUInt32LE(CALL_RUNNING, 0);
    buffer.writeDoubleLE(deadline, OFFSET_DEADLINE);
    buffer.writeDoubleLE(started, OFFSET_STARTED);
    const idBytes = buffer.write(requestId, OFFSET_ID, MAX_ID_BYTES, "latin1");
    buffer.writeUInt32LE(idBytes, OFFSET_ID_LENGTH);
    writeSync(this.fd, buffer, 0, OFFSET_ID + idBytes, this.#position);
  }

  answering(): void {
    this.#buffer.writeUInt32LE(CALL_ANSWERING, 0);
    this.#flush();
  }

  /** Says that the call's answer is sent: within five milliseconds, or before the process exits. */
  idle(): void {
    this.#buffer.writeUInt32LE(CALL_IDLE, 0);
    if (this.#isListed) return;
    if (ended.length === 0) setTimeout(writeEnded, IDLE_WRITE_DELAY_MS);
    ended.push(this);
    this.#isListed = true;
  }

  /** Called for a record that was idle; the next call may have begun and be written since. */
  flushIfIdle(): void {
    this.#isListed = false;
    if (this.#buffer[0] === CALL_IDLE) this.#flush();
  }

  /** The connection is gone: its slot may be another's from now on, whatever a call of it still does. */
  close(): void {
    this.#buffer.writeUInt32LE(CALL_IDLE, 0);
    this.#flush();
    this.#isClosed = true;
  }

  #flush(): void {
    if (!this.#isClosed) writeSync(this.fd, this.#buffer, 0, 4, this.#position);
  }
}

/** Leaves the table true when the function's code ends the process. */
export const flushCallRecordsAtExit = (): void => {
  process.once("exit", writeEnded);
};

/** The worker's side of the table's header. */
export class TableHeaderWriter {
  readonly #beat = Buffer.alloc(8);

  constructor(private readonly fd: number) {}

  beat(nowMs: number): void {
    this.#beat.writeDoubleLE(nowMs, 0);
    writeSync(this.fd, this.#beat, 0, 8, 0);
  }

  aborted(): void {
    writeSync(this.fd, Buffer.from([1]), 0, 1, HEADER_ABORTED_OFFSET);
  }
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
    this.#buffer = Buffer.alloc(positionOf(maxSlots));
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
    return { beat: this.#buffer.readDoubleLE(0), aborted: this.#buffer[HEADER_ABORTED_OFFSET] === 1 };
  }

  record(slot: number): CallRecord {
    readSync(this.fd, this.#buffer, positionOf(slot), RECORD_BYTES, positionOf(slot));
    return this.#decode(slot);
  }

  /** The calls in progress. */
  calls(): CallRecord[] {
    if (this.#slotsInUse === 0) return [];
    readSync(this.fd, this.#buffer, RECORD_BYTES, this.#slotsInUse * RECORD_BYTES, RECORD_BYTES);
    const found: CallRecord[] = [];
    for (let slot = 0; slot < this.#slotsInUse; slot++) {
      if (this.#buffer.readUInt32LE(positionOf(slot)) !== CALL_IDLE) found.push(this.#decode(slot));
    }
    return found;
  }

  close(): void {
    closeSync(this.fd);
  }

  #decode(slot: number): CallRecord {
    const at = positionOf(slot);
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
