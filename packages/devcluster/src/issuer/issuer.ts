import { randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { loopbackRefusal } from "../loopback-guard.js";
import { closeServer, listenOn } from "../loopback-server.js";
import { loadOrMakeSigningKey, type SigningKey } from "./signing-key.js";

export interface IssuerOptions {
  /** Holds the key. */
  dataDir: string;
  /** The `aud` of its tokens. */
  audience: string;
  host?: string;
  /** The port is part of the issuer's name, so give the same one at each start; default: any free one. */
  port?: number;
}

export interface TokenRequest {
  sub: string;
  ttlSec: number;
  /** Space-separated. */
  scope?: string;
}

/** A local OpenID Connect issuer for development: it has no login, who may call `mintToken` may be anybody. */
export interface Issuer {
  /** Its name (`iss`) and address. */
  readonly url: string;
  readonly jwksUrl: string;
  readonly audience: string;
  /** Signs a token, RS256. In process only: no address hands tokens out. */
  mintToken(request: TokenRequest): string;
  close(): Promise<void>;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

const signToken = ({ privateKey, kid }: SigningKey, claims: object): string => {
  const content = `${encode({ alg: "RS256", typ: "JWT", kid })}.${encode(claims)}`;
  return `${content}.${sign("RSA-SHA256", Buffer.from(content), privateKey).toString("base64url")}`;
};

const sendJson = (res: ServerResponse, status: number, body: object): void => {
  res.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "max-age=60" });
  res.end(JSON.stringify(body));
};

export const createIssuer = async (options: IssuerOptions): Promise<Issuer> => {
  const { host = "127.0.0.1", port = 0, audience } = options;
  const key = loadOrMakeSigningKey(join(options.dataDir, "issuer.key"));
  let url = "";

  /** Public by nature: names and the public key. */
  const documents: Record<string, () => object> = {
    "/.well-known/openid-configuration": () => ({
      issuer: url,
      jwks_uri: `${url}/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    }),
    "/jwks": () => ({ keys: [key.jwk] }),
  };
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    req.resume();
    const refusal = loopbackRefusal(req.headers);
    if (refusal) return sendJson(res, 403, { error: refusal });
    const path = req.url ?? "";
    const document = Object.hasOwn(documents, path) ? documents[path] : undefined;
    if (req.method !== "GET" || !document) return sendJson(res, 404, { error: "not found" });
    sendJson(res, 200, document());
  };

  const server = createServer(handle);
  url = `http://${await listenOn(server, host, port)}`;

  return {
    url,
    jwksUrl: `${url}/jwks`,
    audience,
    mintToken({ sub, ttlSec, scope }) {
      const now = Math.floor(Date.now() / 1000);
      const times = { iat: now, nbf: now, exp: now + ttlSec };
      return signToken(key, { iss: url, aud: audience, sub, ...times, jti: randomUUID(), ...(scope ? { scope } : {}) });
    },
    close: () => closeServer(server),
  };
};
