import { createHash } from "node:crypto";
import type { Exchange } from "./exchange.js";
import { invalidField } from "../errors.js";

/** An Idempotency-Key, hashed with what it is scoped to, and the hash of the body that it came with. */
export interface IdempotencyClaim {
  /** 32 hex digits over tenant namespace, method, path and key. */
  readonly scope: string;
  /** 32 hex digits over the body. */
  readonly body: string;
}

const sha256 = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 32);
};

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads Idempotency-Key (security 23).
 * @param namespace the tenant's, not as the path spells it: `me` and the name are the same
 */
export const readIdempotency = (
  { req }: Pick<Exchange, "req">,
  namespace: string,
  body: Uint8Array | string,
): IdempotencyClaim | undefined => {
  const key = req.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !KEY.test(key)) {
    throw invalidField("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
  }
  const path = (req.originalUrl.split("?", 1)[0] ?? "").replace(/^\/v1\/namespaces\/[^/]+/, "");
  return { scope: sha256(namespace, req.method, path, key), body: sha256(body) };
};
