import { setTimeout as pause } from "node:timers/promises";
import { RegistryDenied, RegistryError, RegistryUnavailable } from "./errors.js";

export interface RetryPolicy {
  /** Tries of one thing in all. */
  maxAttempts: number;
  /** First pause in milliseconds, doubled each time. */
  backoffMs: number;
}

/** The login that a request used is void; a new one was got, and the request may be repeated at once. */
export class LoginRenewed extends RegistryError {
  override readonly retryable = true;
}

/** The first login, and another one where it dies half-way through an upload. */
const MOST_LOGINS = 2;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Runs something again while it fails in a way that may pass, with exponential back-off and jitter, and no sooner than
 * the registry asks for.
 *
 * @throws the last error; RegistryDenied when each new login is refused; the signal's reason
 */
export async function retrying<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const spent = { failures: 0, logins: 0 };
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const waitMs = pauseBeforeNext(policy, spent, error);
      if (waitMs > 0) await pause(waitMs, undefined, signal ? { signal } : {});
    }
  }
}

/** @throws the error when there is no next try */
function pauseBeforeNext(policy: RetryPolicy, spent: { failures: number; logins: number }, error: unknown): number {
  if (error instanceof LoginRenewed) {
    if (++spent.logins > MOST_LOGINS)
      throw new RegistryDenied("The registry refuses the login that it has just given", { cause: error });
    return 0;
  }
  const retryable = error instanceof RegistryError && error.retryable;
  if (!retryable || ++spent.failures >= policy.maxAttempts) throw error;
  const asked = error instanceof RegistryUnavailable ? (error.retryAfterMs ?? 0) : 0;
  const grown = policy.backoffMs * 2 ** (spent.failures - 1) * (0.5 + Math.random() / 2);
  return Math.min(Math.max(asked, grown), LONGEST_PAUSE_MS);
}
