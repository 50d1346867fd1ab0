import { TooManyRequests } from "../errors.js";

export interface Shares {
  /**
   * Takes a place until the returned function is called (more calls do nothing).
   * @throws TooManyRequests when the tenant's share or the whole is used up.
   */
  acquire(tenant: string): () => void;
}

export interface SharesOptions {
  /** Places in this replica. A tenant gets a quarter, at least one, so that one alone never takes them all. */
  readonly total: number;
  /** What a place is, in the plural: "uploads". */
  readonly what: string;
  readonly retryAfterSec: number;
}

/** A bound with a share per tenant (security 9). Keyed by tenant, never by address. */
export const createShares = ({ total, what, retryAfterSec }: SharesOptions): Shares => {
  const perTenant = Math.max(1, Math.floor(total / 4));
  const held = new Map<string, number>();
  let sum = 0;
  const release = (tenant: string): void => {
    sum -= 1;
    const left = (held.get(tenant) ?? 1) - 1;
    if (left === 0) held.delete(tenant);
    else held.set(tenant, left);
  };
  return {
    acquire: (tenant) => {
      const mine = held.get(tenant) ?? 0;
      if (mine >= perTenant || sum >= total) {
        const limit =
          mine >= perTenant ? `${perTenant} ${what} at once are a tenant's share here` : `too many ${what} at once`;
        throw new TooManyRequests(`${limit}. Try again in ${retryAfterSec} s.`, retryAfterSec);
      }
      held.set(tenant, mine + 1);
      sum += 1;
      let released = false;
      return () => {
        if (!released) release(tenant);
        released = true;
      };
    },
  };
};
