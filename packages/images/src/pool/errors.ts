/** The pool can't say whether the code is good; the same call may work later. */
export class LayerPoolError extends Error {
  override readonly name: string = "LayerPoolError";
}

/** Too much is waiting, in all or of this tenant; answer 429 or 503 and try later. */
export class LayerPoolBusy extends LayerPoolError {
  override readonly name = "LayerPoolBusy";

  constructor(readonly scope: "tenant" | "pool") {
    const whose = scope === "tenant" ? "of this tenant " : "";
    super(`Too many uploads ${whose}are being processed; try again in a few seconds`);
  }
}

/** The code took longer than the time limit, and its worker was ended. */
export class LayerTimeout extends LayerPoolError {
  override readonly name = "LayerTimeout";

  constructor(readonly timeoutMs: number) {
    super(`Processing the code took longer than ${timeoutMs / 1000} s; make it smaller or try again`);
  }
}

/** The worker ended: out of its memory limit, or a crash. */
export class LayerWorkerDied extends LayerPoolError {
  override readonly name = "LayerWorkerDied";

  constructor(reason: string, options?: ErrorOptions) {
    super(`The worker that processed the code ended: ${reason}`, options);
  }
}

/** The pool is closed or the caller gave up. */
export class LayerPoolClosed extends LayerPoolError {
  override readonly name = "LayerPoolClosed";
}
