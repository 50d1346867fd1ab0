import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createHash,
  randomUUID,
  sign,
  type KeyObject,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface TokenOptions {
  readonly subject: string;
  /** Seconds until it expires; negative for one that has. Default 3600. */
  readonly ttlSec?: number;
  readonly issuer?: string;
  readonly audience?: string;
  /** `none` leaves the signature empty; HS256 signs with the public key as the secret, the classic confusion. */
  readonly algorithm?: "RS256" | "none" | "HS256";
  readonly key?: KeyObject;
}

/** Makes tokens as the installation's issuer does, and wrong ones. */
export type MintToken = (options: TokenOptions) => string;

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

const kidOf = (key: KeyObject): string => {
  const { e, kty, n } = createPublicKey(key).export({ format: "jwk" });
  return createHash("sha256").update(JSON.stringify({ e, kty, n })).digest("base64url");
};

const signature = (content: string, algorithm: string, key: KeyObject): string => {
  if (algorithm === "none") return "";
  if (algorithm === "RS256") return sign("RSA-SHA256", Buffer.from(content), key).toString("base64url");
  const secret = createPublicKey(key).export({ type: "spki", format: "pem" });
  return createHmac("sha256", secret).update(content).digest("base64url");
};

/**
 * Reads the signing key of an installation, which only who owns its data folder can.
 * @param issuer the `iss` of its tokens
 */
export const createMint = (dataDir: string, issuer: string): MintToken => {
  const own = createPrivateKey(readFileSync(join(dataDir, "cluster", "issuer", "issuer.key")));
  return ({ subject, ttlSec = 3600, audience = "sless", algorithm = "RS256", key = own, ...options }) => {
    const now = Math.floor(Date.now() / 1000);
    const header = encode({ alg: algorithm, typ: "JWT", kid: kidOf(own) });
    const times = { iat: now - 10, nbf: now - 10, exp: now + ttlSec };
    const claims = { iss: options.issuer ?? issuer, aud: audience, sub: subject, ...times, jti: randomUUID() };
    const content = `${header}.${encode(claims)}`;
    return `${content}.${signature(content, algorithm, key)}`;
  };
};
