import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface SigningKey {
  privateKey: KeyObject;
  kid: string;
  /** The public half as it stands in the key set. */
  jwk: JsonWebKey;
}

const makeKeyFile = (file: string): void => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  renameSync(`${file}.new`, file);
};

/** Thumbprint of RFC 7638: the same key always has the same id. */
const thumbprint = ({ e, kty, n }: JsonWebKey): string =>
  createHash("sha256").update(JSON.stringify({ e, kty, n })).digest("base64url");

/** Reads the key of an installation, made at the first start, readable by its owner only. */
export const loadOrMakeSigningKey = (file: string): SigningKey => {
  if (!existsSync(file)) makeKeyFile(file);
  const privateKey = createPrivateKey(readFileSync(file));
  const jwk = createPublicKey(privateKey).export({ format: "jwk" });
  const kid = thumbprint(jwk);
  return { privateKey, kid, jwk: { ...jwk, kid, use: "sig", alg: "RS256" } };
};
