/**
 * Entry of the thread that copies the call table to its file. It runs while the function's code blocks the event loop,
 * which is when the supervisor needs to know what is going on.
 */
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { RECORD_BYTES } from "../shared/call-table-layout.js";
import { CONTROL_ASLEEP, CONTROL_NEVER, CONTROL_SEQUENCE, CONTROL_SLOTS } from "./call-table-control.js";
import type { MirrorData } from "./call-table-control.js";

const COPY_INTERVAL_MS = 10;
/** Without a change for this many intervals it sleeps until there is one. */
const QUIET_INTERVALS = 50;

const { control, table, fd } = workerData as MirrorData;
const bytes = new Uint8Array(table);

const copy = (): void => {
  const length = Atomics.load(control, CONTROL_SLOTS) * RECORD_BYTES;
  if (length > 0) writeSync(fd, bytes, RECORD_BYTES, length, RECORD_BYTES);
};

const sleepUntilChanged = (seen: number): void => {
  Atomics.store(control, CONTROL_ASLEEP, 1);
  Atomics.wait(control, CONTROL_SEQUENCE, seen);
  Atomics.store(control, CONTROL_ASLEEP, 0);
};

let quiet = 0;
for (let copied = -1; ;) {
  const sequence = Atomics.load(control, CONTROL_SEQUENCE);
  quiet = sequence === copied ? quiet + 1 : 0;
  if (sequence !== copied) copy();
  copied = sequence;
  if (quiet >= QUIET_INTERVALS) sleepUntilChanged(copied);
  else Atomics.wait(control, CONTROL_NEVER, 0, COPY_INTERVAL_MS);
}
