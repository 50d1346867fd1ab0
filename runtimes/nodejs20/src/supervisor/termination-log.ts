import { writeFileSync } from "node:fs";

export type FatalReason = "LoadError" | "OutOfMemory" | "WorkerCrashed";

/** Kubernetes reads no more than this of a container's termination message. */
const MAX_BYTES = 4096;

/** JSON of at most 4096 bytes; the message is cut where it is longer. */
export const makeTerminationMessage = (reason: FatalReason, message: string): string => {
  for (let kept = message.slice(0, MAX_BYTES); ; kept = kept.slice(0, Math.floor(kept.length * 0.9))) {
    const text = JSON.stringify({ reason, message: kept });
    if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  }
};

/** Says why the pod ends, where the controller reads it (`containerStatuses[].state.terminated.message`). */
export const writeTerminationLog = (path: string, reason: FatalReason, message: string): void => {
  try {
    writeFileSync(path, makeTerminationMessage(reason, message));
  } catch {
    // Outside of Kubernetes the file's folder may be missing; the same text is in the log.
  }
};
