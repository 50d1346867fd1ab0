/** Layout of the call table, which the worker writes (worker/call-table-writer.ts) and the supervisor reads. */

export const RECORD_BYTES = 128;
export const OFFSET_DEADLINE = 8;
export const OFFSET_STARTED = 16;
export const OFFSET_ID_LENGTH = 24;
export const OFFSET_ID = 28;
export const MAX_ID_BYTES = RECORD_BYTES - OFFSET_ID;

/** What a connection is at: between calls, in a call whose answer has not begun, or in the middle of an answer. */
export const CALL_IDLE = 0;
export const CALL_RUNNING = 1;
export const CALL_ANSWERING = 2;

/** In the header, which is the first record's place. */
export const OFFSET_BEAT = 0;
export const OFFSET_FLAGS = 8;
/** The function's code called `process.abort()`. */
export const FLAG_ABORTED = 1;
/** The worker has written all records on its way out. */
export const FLAG_COMPLETE = 2;

export const recordPosition = (slot: number): number => (slot + 1) * RECORD_BYTES;
