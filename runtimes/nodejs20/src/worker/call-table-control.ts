/** What the thread that copies the call table shares with the thread that runs the function. */

/** Counts changes of the table. */
export const CONTROL_SEQUENCE = 0;
/** 1 while the copying thread waits for the sequence to change, so that only then waking it costs a system call. */
export const CONTROL_ASLEEP = 1;
/** Records in use. */
export const CONTROL_SLOTS = 2;
/** Never changes: waiting for it is sleeping. */
export const CONTROL_NEVER = 3;
export const CONTROL_INTS = 4;

export interface MirrorData {
  readonly control: Int32Array;
  readonly table: SharedArrayBuffer;
  readonly fd: number;
}
