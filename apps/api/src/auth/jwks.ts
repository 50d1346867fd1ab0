import { createPublicKey, type KeyObject } from "node:crypto";
import jwksRsa from "jwks-rsa";
import type { FetchJwks } from "./fetch-jwks.js";
import { Unauthenticated, Unavailable } from "../errors.js";

/** A signing key of the issuer and what it may be used for. */
export interface SigningKey {
  readonly kid: string | undefined;
  /** Algorithm that the issuer bound the key to, if it said so. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

export interface JwksOptions {
  readonly fetch: FetchJwks;
  readonly now?: () => number;
  readonly onFetch?: (outcome: "ok" | "failed") => void;
}

export interface Jwks {
  /**
   * The key that a token names; without a name, the only one there is.
   * @throws Unauthenticated when no such key exists, Unavailable when that can't be known.
   */
  find(kid: string | undefined): Promise<SigningKey>;
}

const REFRESH_AFTER_MS = 10 * 60_000;
/** Longest age of the last good keys (security 25): beyond it a key that was withdrawn could still be in use. */
export const KEYS_MAX_AGE_MS = 24 * 3600_000;
/** Fetches for names that are not known: so many at once, then one each interval (D33). */
const UNKNOWN_KID_BURST = 3;
const UNKNOWN_KID_INTERVAL_MS = 10_000;
const MAX_KEYS = 100;

const KEY_TYPES = new Set(["rsa", "ec"]);

const isObject = (jwk: unknown): jwk is object => typeof jwk === "object" && jwk !== null;

/** A set without a usable key is a set: no token can be right. What the fetch itself threw goes on. */
const noneWhenEmpty = (error: unknown): jwksRsa.SigningKey[] => {
  if (error instanceof jwksRsa.JwksError) return [];
  throw error;
};

/**
 * Reads a key set through jwks-rsa: symmetric keys, those for encryption and broken ones are left out. Its cache and its
 * limiter stay off, since the limiter lets made-up names block real ones (D33).
 */
const createKeyReader = (fetch: FetchJwks): (() => Promise<readonly SigningKey[]>) => {
  const client = jwksRsa({
    jwksUri: "the issuer's key set",
    cache: false,
    rateLimit: false,
    fetcher: async () => ({ keys: (await fetch()).slice(0, MAX_KEYS).filter(isObject) }),
  });
  return async () => {
    const found = await client.getSigningKeys().catch(noneWhenEmpty);
    return found.flatMap((signingKey) => {
      const key = createPublicKey(signingKey.getPublicKey());
      const isUsable = KEY_TYPES.has(key.asymmetricKeyType ?? "");
      return isUsable ? [{ kid: signingKey.kid, alg: signingKey.alg, key }] : [];
    });
  };
};

const createBucket = (now: () => number) => {
  let tokens = UNKNOWN_KID_BURST;
  let last = now();
  return (): boolean => {
    tokens = Math.min(UNKNOWN_KID_BURST, tokens + (now() - last) / UNKNOWN_KID_INTERVAL_MS);
    last = now();
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
};

const pick = (keys: readonly SigningKey[], kid: string | undefined): SigningKey | undefined => {
  if (kid === undefined) return keys.length === 1 ? keys[0] : undefined;
  return keys.find((key) => key.kid === kid);
};

/**
 * The issuer's keys, kept: refreshed every ten minutes, and at once for a name that is not known, so that a rotation
 * locks nobody out; such fetches are rationed, so that made-up names do not flood the issuer. While it is away the last
 * good keys count for a day.
 */
export const createJwks = ({ fetch, now = Date.now, onFetch }: JwksOptions): Jwks => {
  const mayAskForUnknown = createBucket(now);
  const readKeys = createKeyReader(fetch);
  let keys: readonly SigningKey[] = [];
  let fetchedAt = -Infinity;
  let triedAt = -Infinity;
  let pending: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    triedAt = now();
    try {
      keys = await readKeys();
      fetchedAt = now();
      onFetch?.("ok");
    } catch (cause) {
      onFetch?.("failed");
      throw new Unavailable("Tokens can't be checked now: the issuer's keys can't be read. Try again soon.", 5, {
        cause,
      });
    } finally {
      pending = undefined;
    }
  };
  const refresh = (): Promise<void> => (pending ??= load());

  /** Old keys still serve while newer ones are looked for; a failure shows only when they are too old to be used. */
  const refreshWhenOld = async (): Promise<void> => {
    const age = now() - fetchedAt;
    if (age > KEYS_MAX_AGE_MS) return refresh();
    if (age > REFRESH_AFTER_MS && now() - triedAt > UNKNOWN_KID_INTERVAL_MS) refresh().catch(() => undefined);
  };

  return {
    find: async (kid) => {
      await refreshWhenOld();
      const known = pick(keys, kid);
      if (known) return known;
      if (mayAskForUnknown()) await refresh();
      const found = pick(keys, kid);
      if (found) return found;
      throw new Unauthenticated("The token is signed with a key that its issuer does not list. Log in again.");
    },
  };
};
