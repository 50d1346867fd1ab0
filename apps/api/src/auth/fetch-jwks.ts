import { request } from "undici";

/** Reads the issuer's keys, as they stand in the document. */
export type FetchJwks = () => Promise<readonly unknown[]>;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** True for https, and for http to this very machine, where nobody stands in between. */
export const isTrustworthyUrl = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || LOOPBACK.has(hostname);
};

const readBounded = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the key set is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/**
 * A reader of a key set: bounded in time and size, and never redirected, since a redirect could lead anywhere.
 * @throws Error when the URL is plain http to another machine.
 */
export const createJwksFetcher = (url: string): FetchJwks => {
  if (!isTrustworthyUrl(url)) throw new Error(`SLESS_AUTH_JWKS_URL must be https unless it is on loopback, not ${url}`);
  return async () => {
    const { statusCode, body } = await request(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await readBounded(body);
    if (statusCode !== 200) throw new Error(`the issuer answered ${statusCode} for its keys`);
    const { keys } = JSON.parse(text) as { keys?: unknown };
    if (!Array.isArray(keys)) throw new Error("the issuer's answer has no list of keys");
    return keys as unknown[];
  };
};
