import { once } from "node:events";
import { writeSync } from "node:fs";
import { join, dirname } from "node:path";
import { Worker } from "node:worker_threads";
import {
  CALL_ANSWERING,
  CALL_IDLE,
  CALL_RUNNING,
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
import { CONTROL_ASLEEP, CONTROL_INTS, CONTROL_SEQUENCE, CONTROL_SLOTS } from "./call-table-control.js";
import type { MirrorData } from "./call-table-control.js";

/** The worker's side of one connection's record. Nothing here is a system call, since calls pay for it. */
export class CallRecordWriter {
  #isClosed = false;

  constructor(
    private readonly record: Buffer,
    private readonly changed: () => void,
  ) {}

  begin(requestId: string, started: number, deadline: number): void {
    const { record } = this;
    record.writeDoubleLE(deadline, OFFSET_DEADLINE);
    record.writeDoubleLE(started, OFFSET_STARTED);
    record.writeUInt32LE(record.write(requestId, OFFSET_ID, MAX_ID_BYTES, "latin1"), OFFSET_ID_LENGTH);
    this.#setState(CALL_RUNNING);
  }

  answering(): void {
    this.#setState(CALL_ANSWERING);
  }

  idle(): void {
    this.#setState(CALL_IDLE);
  }

  /** The connection is gone: its slot may be another's from now on, whatever a call of it still does. */
  close(): void {
    this.#setState(CALL_IDLE);
    this.#isClosed = true;
  }

  #setState(state: number): void {
    if (this.#isClosed) return;
    this.record[0] = state;
    this.changed();
  }
}

/** Writes the call table: records into shared memory, which a thread copies to the file; the header at once. */
export class CallTableWriter {
  readonly #control = new Int32Array(new SharedArrayBuffer(CONTROL_INTS * Int32Array.BYTES_PER_ELEMENT));
  readonly #table: Buffer;
  readonly #shared: SharedArrayBuffer;
  readonly #beat = Buffer.alloc(8);
  #flags = 0;

  constructor(
    private readonly fd: number,
    maxSlots: number,
  ) {
    this.#shared = new SharedArrayBuffer(recordPosition(maxSlots));
    this.#table = Buffer.from(this.#shared);
  }

  /** Starts the thread that copies, and resolves when it runs; before that, only `flush` does. */
  async startMirror(): Promise<void> {
    const data: MirrorData = { control: this.#control, table: this.#shared, fd: this.fd };
    const script = join(dirname(process.argv[1] ?? ""), "call-table-mirror.js");
    const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
    const mirror = new Worker(script, { workerData: data, env: {}, execArgv: [], resourceLimits: limits });
    await once(mirror, "online");
    mirror.unref();
  }

  record(slot: number): CallRecordWriter {
    if (slot >= (this.#control[CONTROL_SLOTS] ?? 0)) this.#control[CONTROL_SLOTS] = slot + 1;
    const at = recordPosition(slot);
    return new CallRecordWriter(this.#table.subarray(at, at + RECORD_BYTES), () => this.#onChange());
  }

  /** Says that the event loop turns. */
  beat(nowMs: number): void {
    this.#beat.writeDoubleLE(nowMs, 0);
    writeSync(this.fd, this.#beat, 0, this.#beat.length, OFFSET_BEAT);
  }

  /** Writes all records now. */
  flush(): void {
    const bytes = (this.#control[CONTROL_SLOTS] ?? 0) * RECORD_BYTES;
    if (bytes > 0) writeSync(this.fd, this.#table, RECORD_BYTES, bytes, RECORD_BYTES);
  }

  /** Writes all records for the last time: the process is about to end. */
  complete(options: { readonly aborted: boolean }): void {
    this.flush();
    this.#flags |= FLAG_COMPLETE | (options.aborted ? FLAG_ABORTED : 0);
    writeSync(this.fd, Buffer.from([this.#flags]), 0, 1, OFFSET_FLAGS);
  }

  #onChange(): void {
    Atomics.add(this.#control, CONTROL_SEQUENCE, 1);
    if (Atomics.load(this.#control, CONTROL_ASLEEP) === 1) Atomics.notify(this.#control, CONTROL_SEQUENCE);
  }
}
