import type { Response } from "express";
import { Unauthenticated, Unavailable } from "../errors.js";
import type { Principal } from "../auth/principal.js";

/** The client closed its connection: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A signal that ends with the client's connection, with its token (security 25) and, where it is given, with `drain`.
 * The reason is the error that the caller would be answered with.
 */
export const createLifetime = (res: Response, principal: Principal, drain?: AbortSignal): AbortSignal => {
  const controller = new AbortController();
  const onDrain = (): void => controller.abort(new Unavailable("This replica is stopping. Try again.", 1));
  const untilExpiry = Math.max(0, Math.min(principal.expiresAt - Date.now(), MAX_TIMER_MS));
  const timer = setTimeout(
    () => controller.abort(new Unauthenticated("The token ended. Log in again.")),
    untilExpiry,
  ).unref();
  if (drain?.aborted) onDrain();
  else drain?.addEventListener("abort", onDrain, { once: true });
  res.once("close", () => {
    clearTimeout(timer);
    drain?.removeEventListener("abort", onDrain);
    if (!res.writableFinished) controller.abort(new ClientGone("the client has gone"));
  });
  return controller.signal;
};
