import type { ServerResponse } from "node:http";

/** The client went away before it had its answer. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** Notices that a client hangs up. Cheaper than an AbortSignal, of which each call would need one. */
export class ClientWatch {
  gone = false;
  /** What to do at that moment; whoever waits for something sets it, and unsets it after. */
  onGone: (() => void) | undefined;

  constructor(response: ServerResponse) {
    response.on("close", () => {
      if (response.writableEnded) return;
      this.gone = true;
      this.onGone?.();
    });
  }
}
