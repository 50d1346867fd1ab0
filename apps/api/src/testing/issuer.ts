import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import jwt from "jsonwebtoken";

interface IssuerKey {
  readonly kid: string;
  readonly alg: jwt.Algorithm;
  readonly privateKey: KeyObject;
  readonly jwk: object;
}

/** A token issuer with a real key set behind a real URL. */
export interface TestIssuer {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Requests for the key set so far. */
  readonly fetches: () => number;
  /** From now on signs with a new key, and lists it alone. */
  rotate(): void;
  /** Answers 503 until told otherwise. */
  setDown(down: boolean): void;
  /** A good token of a tenant; `claims` and `header` change what is in it, undefined removes a claim. */
  token(subject: string, claims?: Record<string, unknown>, header?: Record<string, unknown>): string;
  readonly key: () => IssuerKey;
  close(): Promise<void>;
}

export const TEST_ISSUER = "https://issuer.test";
export const TEST_AUDIENCE = "sless";

/** RSA of 2048 bits takes long to make; a curve does not. */
const makeKey = (index: number): IssuerKey => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = `key-${index}`;
  return {
    kid,
    alg: "ES256",
    privateKey,
    jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" },
  };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

export const startTestIssuer = async (): Promise<TestIssuer> => {
  let key = makeKey(1);
  let made = 1;
  let fetches = 0;
  let down = false;
  const server = createServer((_req, res) => {
    fetches += 1;
    res.statusCode = down ? 503 : 200;
    res.end(JSON.stringify({ keys: [key.jwk] }));
  });
  const port = await listen(server);
  return {
    issuer: TEST_ISSUER,
    jwksUrl: `http://127.0.0.1:${port}/jwks`,
    fetches: () => fetches,
    rotate: () => {
      made += 1;
      key = makeKey(made);
    },
    setDown: (value) => {
      down = value;
    },
    key: () => key,
    token: (subject, claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const all = { sub: subject, iss: TEST_ISSUER, aud: TEST_AUDIENCE, iat: now, exp: now + 3600, ...claims };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return jwt.sign(given, key.privateKey, {
        algorithm: key.alg,
        header: { alg: key.alg, kid: key.kid, ...header },
        noTimestamp: true,
        allowInvalidAsymmetricKeyTypes: true,
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
