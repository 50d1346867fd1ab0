import type { Call } from "./call.js";
import type { WorkerConfig } from "../shared/protocol.js";

/** The second argument of a handler. */
export class FunctionContext {
  readonly requestId: string;
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly memoryLimitInMB: number;
  readonly #call: Call;

  constructor(call: Call, config: WorkerConfig) {
    this.#call = call;
    this.requestId = call.requestId;
    this.awsRequestId = call.requestId;
    this.functionName = config.functionName;
    this.functionVersion = config.functionVersion;
    this.memoryLimitInMB = config.memoryMb;
  }

  /** Whole milliseconds until the call is ended with a timeout; never negative. */
  getRemainingTimeInMillis = (): number => this.#call.remainingMs;

  /** Aborted when the deadline comes or the caller has gone. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
