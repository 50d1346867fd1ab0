import { tenantHash, tenantNamespace } from "@sless/contracts";
import { Unauthenticated } from "../errors.js";

/** Who calls, as the token says. */
export interface Principal {
  /** Value of the tenant claim, byte for byte. */
  readonly subject: string;
  readonly issuer: string;
  /** Full hash of the tenant. */
  readonly hash: string;
  /** Its own namespace. */
  readonly namespace: string;
  readonly admin: boolean;
  /** When the token ends, milliseconds. Streams and waits end with it. */
  readonly expiresAt: number;
}

export interface ClaimRules {
  readonly tenantClaim: string;
  readonly adminClaim: string;
  readonly adminScope: string;
  /** False where tokens are not checked: nobody is an administrator then. */
  readonly adminPossible: boolean;
}

const CLAIM_MAX_BYTES = 255;
const LONE_SURROGATE = /\p{Surrogate}/u;

const own = (claims: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

/** Lone surrogates are refused: they would all become the same bytes, and so the same tenant. */
const readTenantClaim = (claims: Record<string, unknown>, name: string): string => {
  const value = own(claims, name);
  if (
    typeof value !== "string" ||
    value === "" ||
    Buffer.byteLength(value) > CLAIM_MAX_BYTES ||
    LONE_SURROGATE.test(value)
  ) {
    throw new Unauthenticated(`The token's claim ${name} must be a text of 1 to ${CLAIM_MAX_BYTES} bytes.`);
  }
  return value;
};

/** A scope claim is a list, or words separated by spaces (RFC 8693). */
const hasScope = (value: unknown, scope: string): boolean => {
  const scopes: unknown[] = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  return scopes.includes(scope);
};

/**
 * Who the checked claims of a token speak of (security 24).
 * @throws Unauthenticated when the tenant claim or `exp` is not usable.
 */
export const toPrincipal = (claims: Record<string, unknown>, rules: ClaimRules): Principal => {
  const subject = readTenantClaim(claims, rules.tenantClaim);
  const expires = own(claims, "exp");
  if (typeof expires !== "number" || !Number.isFinite(expires)) {
    throw new Unauthenticated("The token does not say when it ends (exp).");
  }
  const issuer = own(claims, "iss");
  const issuerText = typeof issuer === "string" ? issuer.slice(0, 2048) : "";
  const hash = tenantHash({ issuer: issuerText, claim: subject, secondary: false });
  return {
    subject,
    issuer: issuerText,
    hash,
    namespace: tenantNamespace(hash),
    admin: rules.adminPossible && hasScope(own(claims, rules.adminClaim), rules.adminScope),
    expiresAt: expires * 1000,
  };
};
