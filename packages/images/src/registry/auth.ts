import { z } from "zod";
import { parseChallenges, type Challenge } from "./challenge.js";
import type { RegistryCredentials } from "./config.js";
import { RegistryDenied, RegistryLied } from "./errors.js";

/** What a request may do, as the token protocol writes it: `repository:<name>:<actions>`. */
export type Scope = string;

export const pullScope = (repository: string): Scope => `repository:${repository}:pull`;
export const pushScope = (repository: string): Scope => `repository:${repository}:pull,push`;
export const deleteScope = (repository: string): Scope => `repository:${repository}:delete,pull`;

/** Fetches a token document; the one thing that auth needs of the network. Follows no redirect. */
export type FetchToken = (url: URL, authorization: string | undefined) => Promise<{ status: number; body: Buffer }>;

export interface Authorizer {
  /** The header to send, as far as known without asking. */
  header(scopes: readonly Scope[]): string | undefined;
  /**
   * Answers a 401: forgets what was sent for these scopes and gets something new.
   * @param sent the header of the refused request: one sent before another had logged in tells nothing of the password
   * @throws RegistryDenied when there is nothing to get
   */
  renew(
    scopes: readonly Scope[],
    wwwAuthenticate: string | string[] | undefined,
    sent: string | undefined,
  ): Promise<void>;
}

interface CachedHeader {
  header: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Distribution's default where `expires_in` is missing. */
const DEFAULT_LIFETIME_SEC = 60;
/** Renewed this much before the end, so that a token does not die on its way. */
const EARLY_MS = 5_000;
const MOST_CACHED = 500;

const TokenAnswer = z.object({
  token: z.string().min(1).max(65_536).optional(),
  access_token: z.string().min(1).max(65_536).optional(),
  expires_in: z.number().positive().optional(),
});

/**
 * Basic and Bearer as the distribution specification has them. Bearer is used wherever among the challenges it stands;
 * tokens are kept per set of scopes. Credentials go to the registry itself and to the realm that it names, nowhere else.
 *
 * @param origin of the registry
 */
export function createAuthorizer(
  origin: URL,
  credentials: RegistryCredentials | undefined,
  fetchToken: FetchToken,
  now: () => number = Date.now,
): Authorizer {
  const cached = new Map<string, CachedHeader>();
  let everywhere: string | undefined;
  const basic =
    credentials && `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;

  const remember = (key: string, entry: CachedHeader): void => {
    if (cached.size >= MOST_CACHED) cached.clear();
    cached.set(key, entry);
  };
  const login = async (bearer: Challenge, scopes: readonly Scope[]): Promise<CachedHeader> => {
    const url = tokenUrl(origin, bearer, scopes);
    const { status, body } = await fetchToken(url, basic);
    if (status !== 200) throw new RegistryDenied(`${url.host} gave no token for ${scopes.join(" ")}: status ${status}`);
    return parseToken(body, url.host, now());
  };

  return {
    header: (scopes) => {
      const entry = cached.get(keyOf(scopes));
      return entry && entry.expiresAt - EARLY_MS > now() ? entry.header : everywhere;
    },
    renew: async (scopes, wwwAuthenticate, sent) => {
      cached.delete(keyOf(scopes));
      const challenges = parseChallenges(wwwAuthenticate);
      const bearer = challenges.find(({ scheme }) => scheme === "bearer");
      if (bearer) return remember(keyOf(scopes), await login(bearer, scopes));
      if (!challenges.some(({ scheme }) => scheme === "basic"))
        throw new RegistryDenied(`${origin.host} demands a login but names neither Basic nor Bearer`);
      if (basic === undefined)
        throw new RegistryDenied(`${origin.host} demands a login; set its username and password`);
      if (sent === basic) throw new RegistryDenied(`${origin.host} refuses this username and password`);
      everywhere = basic;
    },
  };
}

function tokenUrl(origin: URL, { params }: Challenge, scopes: readonly Scope[]): URL {
  const url = parseRealm(origin, params.get("realm") ?? "");
  const service = params.get("service");
  if (service !== undefined) url.searchParams.set("service", service);
  const wanted = scopes.length > 0 ? scopes : (params.get("scope")?.split(" ") ?? []);
  for (const scope of wanted) url.searchParams.append("scope", scope);
  return url;
}

/** A registry reached by https may not have the password sent over plain http. */
function parseRealm(origin: URL, realm: string): URL {
  if (!URL.canParse(realm)) throw new RegistryLied(`${origin.host} names no valid realm to log in at`);
  const url = new URL(realm);
  const allowed = url.protocol === "https:" || (url.protocol === "http:" && origin.protocol === "http:");
  if (!allowed) throw new RegistryLied(`${origin.host} wants the login sent over ${url.protocol}`);
  return url;
}

function parseToken(body: Buffer, host: string, now: number): CachedHeader {
  const parsed = TokenAnswer.safeParse(parseJson(body));
  const token = parsed.data?.token ?? parsed.data?.access_token;
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token))
    throw new RegistryLied(`${host} answered a login without a token`);
  const lifetime = parsed.data?.expires_in ?? DEFAULT_LIFETIME_SEC;
  return { header: `Bearer ${token}`, expiresAt: now + lifetime * 1000 };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function keyOf(scopes: readonly Scope[]): string {
  return [...scopes].sort().join(" ");
}
