/** A signal that aborts with the outer signal, when its own bound passes, or when told. Dispose it when done. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Starts the bound anew, for streams that stay alive while data comes. */
  restart: () => void;
  /** Lifts the bound; the outer signal still counts. */
  lift: () => void;
  dispose: () => void;
}

/**
 * Not AbortSignal.any: on Node 20 signals derived from a process-long one are kept alive with it, and every call here
 * derives one.
 */
export const createDeadline = (timeoutMs: number, makeError: () => Error, outer?: AbortSignal): Deadline => {
  const controller = new AbortController();
  const expire = (): void => controller.abort(makeError());
  const follow = (): void => controller.abort(outer?.reason);
  let timer: NodeJS.Timeout | undefined = setTimeout(expire, timeoutMs);
  if (outer?.aborted) follow();
  else outer?.addEventListener("abort", follow, { once: true });
  const lift = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    signal: controller.signal,
    restart: () => timer?.refresh(),
    lift,
    dispose: () => {
      lift();
      outer?.removeEventListener("abort", follow);
    },
  };
};
