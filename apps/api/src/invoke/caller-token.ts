import { CALLER_AUDIENCE } from "@sless/contracts";
import jwt from "jsonwebtoken";
import type { Principal } from "../auth/principal.js";

const LIFETIME_SECONDS = 30;

/** Tells the gateway, signed and for half a minute, on whose behalf the API calls and into which namespace. */
export const signCaller = (key: string, principal: Principal, namespace: string): string =>
  jwt.sign({ ns: namespace }, key, {
    algorithm: "HS256",
    audience: CALLER_AUDIENCE,
    subject: principal.subject,
    expiresIn: LIFETIME_SECONDS,
  });
