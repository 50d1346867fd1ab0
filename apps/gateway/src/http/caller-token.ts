import { CALLER_AUDIENCE, CallerClaims } from "@sless/contracts";
import jwt from "jsonwebtoken";

/** The API and the gateway may disagree about the time by this much. */
const CLOCK_SKEW_SEC = 5;
/** The API signs for 30 s; a token that claims to be good for longer was not made by it. */
const MAX_LIFETIME_SEC = 60;

/** Reads the token with which the API says for whom it invokes; undefined for any that it can't have made just now. */
export type CallerTokenReader = (token: string | undefined) => CallerClaims | undefined;

/** @param key shared secret of API and gateway, used as the bytes of its text */
export const createCallerTokenReader =
  (key: string): CallerTokenReader =>
  (token) => {
    if (token === undefined) return undefined;
    try {
      const payload = jwt.verify(token, key, {
        algorithms: ["HS256"],
        audience: CALLER_AUDIENCE,
        clockTolerance: CLOCK_SKEW_SEC,
      });
      const claims = CallerClaims.parse(payload);
      return claims.exp - claims.iat > MAX_LIFETIME_SEC ? undefined : claims;
    } catch {
      return undefined;
    }
  };
