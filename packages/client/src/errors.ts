import type { Problem } from "@sless/contracts";

/** The API answered with an error. `message` is its text: what happened, why, and what to do. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly problem: Problem,
    /** Seconds after which the API wants to be asked again. */
    readonly retryAfterSec?: number,
    /** With 412: ETag of the item as it is now. */
    readonly currentEtag?: string,
  ) {
    super(problem.detail);
  }
  get requestId(): string {
    return this.problem.request_id;
  }
}

/** No usable answer came: the endpoint is away, unreachable, or no sless API. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
}

/** A wait's time was up before the item was as it should be. */
export class WaitTimeout extends Error {
  override readonly name = "WaitTimeout";
}
