/** What gateway, supervisor and worker agree on: fault names, header names, messages between the two processes. */

/** Every way in which an answer may not be the handler's own, with the HTTP status that goes with it. */
export const FAULT_STATUS = {
  busy: 503,
  draining: 503,
  "not-ready": 503,
  "wrong-version": 421,
  "body-too-large": 413,
  "bad-request": 400,
  "handler-error": 502,
  "bad-result": 502,
  timeout: 504,
  exited: 502,
  "out-of-memory": 502,
} as const;

export type Fault = keyof typeof FAULT_STATUS;

/** Prefix of the headers that only the platform sets: dropped from events and from handlers' answers. */
export const PLATFORM_HEADER_PREFIX = "x-sless-";
export const HEADER_VERSION_UID = "x-sless-version-uid";
export const HEADER_RUN_MS = "x-sless-run-ms";
export const HEADER_FAULT = "x-sless-fault";

/** The body of a fault. */
export interface FaultBody {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly stackTrace?: readonly string[];
}

/** What a worker needs to know; travels in the first message, since the function's environment is the user's. */
export interface WorkerConfig {
  readonly entrypoint: string;
  readonly codeDir: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly concurrency: number;
  readonly maxBodyBytes: number;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly versionUid: string;
}

/** Supervisor → worker. A `connection` message carries the socket as its handle. */
export type ToWorker =
  | { readonly type: "start"; readonly config: WorkerConfig }
  | { readonly type: "connection"; readonly slot: number }
  | { readonly type: "drain" };

/**
 * Worker → supervisor. `closed` gives a connection up for good; `released` gives it back between two calls, so that
 * another worker can go on with it; `draining` confirms `drain`: from now on the call table shows all calls that are left;
 * `retire` asks for a replacement.
 */
export type ToSupervisor =
  | { readonly type: "loaded" }
  | { readonly type: "load-error"; readonly message: string }
  | { readonly type: "closed"; readonly slot: number; readonly reset: boolean }
  | { readonly type: "released"; readonly slot: number }
  | { readonly type: "draining" }
  | { readonly type: "retire"; readonly reason: string; readonly requestId: string };

/** File descriptors that a worker inherits beside stdin, stdout, stderr and Node's own channel (3). */
export const LOG_PIPE_FD = 4;
export const CALL_TABLE_FD = 5;

/** How often a worker says that its event loop turns. */
export const BEAT_INTERVAL_MS = 200;

/** Connections a pod holds at once; each has one slot of the call table. */
export const MAX_CONNECTIONS = 1024;
