import type { KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { Unauthenticated } from "../errors.js";
import type { Jwks, SigningKey } from "./jwks.js";
import { toPrincipal, type ClaimRules, type Principal } from "./principal.js";

export interface Authenticator {
  /**
   * Who a request's `Authorization` header speaks for.
   * @throws Unauthenticated, or Unavailable when the issuer's keys can't be had.
   */
  authenticate(authorization: string | undefined): Promise<Principal>;
}

type Claims = Omit<ClaimRules, "adminPossible">;

export interface CheckedOptions extends Claims {
  readonly jwks: Jwks;
  readonly issuer: string;
  readonly audience: string;
}

const TOKEN_MAX_BYTES = 16 * 1024;
/** Clocks may differ by so much (security 25). */
const SKEW_SECONDS = 60;

const EC_CURVES: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** Algorithms that a key of this type can be for: a token never chooses another kind (security 25). */
const fitsKey = (alg: string, key: KeyObject): boolean => {
  if (/^(RS|PS)(256|384|512)$/.test(alg)) return key.asymmetricKeyType === "rsa";
  const curve = EC_CURVES[alg];
  return curve !== undefined && key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === curve;
};

const readToken = (authorization: string | undefined): string => {
  const match = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)$/i.exec(authorization ?? "");
  const token = match?.[1];
  if (token === undefined) {
    throw new Unauthenticated(
      authorization === undefined
        ? "Send a token: Authorization: Bearer <token>."
        : "The Authorization header is not `Bearer <JSON web token>`.",
    );
  }
  if (token.length > TOKEN_MAX_BYTES) throw new Unauthenticated(`The token is longer than ${TOKEN_MAX_BYTES} bytes.`);
  return token;
};

interface Decoded {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly claims: Record<string, unknown>;
}

const decode = (token: string): Decoded => {
  const decoded = jwt.decode(token, { complete: true });
  if (decoded === null || typeof decoded.payload !== "object") {
    throw new Unauthenticated("The token is not a JSON web token.");
  }
  const { alg, kid, crit } = decoded.header as { alg: string; kid?: unknown; crit?: unknown };
  if (crit !== undefined) throw new Unauthenticated("The token demands extensions that are not known here (crit).");
  return { alg, kid: typeof kid === "string" ? kid : undefined, claims: decoded.payload };
};

/** What is wrong, in words for the caller; the library's own text may quote the token. */
const explain = (error: unknown): string => {
  if (error instanceof jwt.TokenExpiredError) return "The token has expired. Log in again.";
  if (error instanceof jwt.NotBeforeError) return "The token is not valid yet (nbf). Check the clock.";
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith("jwt issuer")) return "The token is of another issuer (iss).";
  if (message.startsWith("jwt audience")) return "The token is meant for somebody else (aud).";
  return "The token's signature does not fit.";
};

const verify = (token: string, alg: jwt.Algorithm, key: SigningKey, options: CheckedOptions): void => {
  try {
    jwt.verify(token, key.key, {
      algorithms: [alg],
      issuer: options.issuer,
      audience: options.audience,
      clockTolerance: SKEW_SECONDS,
    });
  } catch (error) {
    throw new Unauthenticated(explain(error));
  }
};

/** Checks tokens against the issuer's keys. */
export const createAuthenticator = (options: CheckedOptions): Authenticator => ({
  authenticate: async (authorization) => {
    const token = readToken(authorization);
    const { alg, kid, claims } = decode(token);
    if (!/^(RS|PS|ES)(256|384|512)$/.test(alg)) {
      throw new Unauthenticated("The token must be signed by RS, PS or ES with 256, 384 or 512.");
    }
    const principal = toPrincipal(claims, { ...options, adminPossible: true });
    const key = await options.jwks.find(kid);
    if (!fitsKey(alg, key.key) || (key.alg !== undefined && key.alg !== alg)) {
      throw new Unauthenticated("The token's algorithm is not that of the key it names.");
    }
    verify(token, alg as jwt.Algorithm, key, options);
    return principal;
  },
});

/** For development alone: believes any well-formed token that has not expired, and makes nobody an administrator. */
export const createInsecureAuthenticator = (rules: Claims): Authenticator => ({
  // eslint-disable-next-line @typescript-eslint/require-await -- the other authenticator has to ask the issuer
  authenticate: async (authorization) => {
    const { claims } = decode(readToken(authorization));
    const principal = toPrincipal(claims, { ...rules, adminPossible: false });
    if (principal.expiresAt + SKEW_SECONDS * 1000 < Date.now()) {
      throw new Unauthenticated("The token has expired. Log in again.");
    }
    return principal;
  },
});
