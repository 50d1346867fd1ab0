import { setTimeout as pause } from "node:timers/promises";
import type { Readable } from "node:stream";
import { Agent, request as send, type Dispatcher } from "undici";
import { createAuthorizer, type Scope } from "./auth.js";
import { readBounded } from "./bounded-body.js";
import { DEFAULT_REGISTRY_TIMEOUTS, type RegistryConfig } from "./config.js";
import { RegistryDenied, RegistryError, RegistryUnavailable } from "./errors.js";
import { toRegistryError } from "./failures.js";

export interface RegistryRequest {
  method: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Path below the origin, or a URL that the registry itself named. */
  url: string | URL;
  scopes: readonly Scope[];
  headers?: Record<string, string>;
  /** Opened anew for each try. */
  body?: Buffer | (() => Promise<Readable>);
  /** Statuses that are answers, not errors. */
  expect: readonly number[];
  /** What is being done, for messages: `push blob sha256:…`. */
  what: string;
  signal?: AbortSignal;
  /** False where a try can't be repeated by itself (a part of an upload). Default true. */
  repeatable?: boolean;
}

export interface RegistryAnswer {
  status: number;
  headers: Dispatcher.ResponseData["headers"];
  /** Must be consumed or destroyed. */
  body: Readable;
  /** Where the answer came from. */
  url: URL;
}

/** Sends requests to one registry: login, retries with back-off, time limits, redirects without credentials. */
export interface Transport {
  readonly origin: URL;
  request(request: RegistryRequest): Promise<RegistryAnswer>;
  /** Runs steps again while they fail in a way that may pass, a login that died included. */
  retrying<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The login that a request used is void; a new one was got, and the request may be repeated. */
class LoginRenewed extends RegistryError {
  override readonly retryable = true;
}

const TOKEN_ANSWER_BYTES = 256 << 10;
const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The first login, and another one where it dies half-way through an upload. */
const MOST_LOGINS = 2;
const LONGEST_PAUSE_MS = 10_000;

export function createTransport(config: RegistryConfig): Transport {
  const origin = new URL(config.url);
  const timeouts = { ...DEFAULT_REGISTRY_TIMEOUTS, ...config.timeouts };
  const maxAttempts = config.maxAttempts ?? 4;
  const agent = new Agent({
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    connections: 32,
  });
  const auth = createAuthorizer(origin, config.credentials, async (url, authorization) => {
    const answer = await raw(url, { method: "GET", headers: authorization ? { authorization } : {} });
    return { status: answer.status, body: await readBounded(answer.body, TOKEN_ANSWER_BYTES, "The login's answer") };
  });

  const raw = async (url: URL, options: RawOptions): Promise<RegistryAnswer> => {
    try {
      const { statusCode, headers, body } = await send(url, { ...options, dispatcher: agent });
      return { status: statusCode, headers, body, url };
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new RegistryUnavailable(`${url.host} does not answer: ${reasonOf(cause)}`, { cause });
    }
  };

  const once = async (request: RegistryRequest): Promise<RegistryAnswer> => {
    const url = new URL(request.url, origin);
    const authorization = url.origin === origin.origin ? auth.header(request.scopes) : undefined;
    const headers = { ...request.headers, ...(authorization ? { authorization } : {}) };
    const body = typeof request.body === "function" ? await request.body() : request.body;
    const answer = await raw(url, { method: request.method, headers, body: body ?? null, ...signalOf(request) });
    if (answer.status === 401 && url.origin === origin.origin) {
      await discard(answer.body);
      await auth.renew(request.scopes, answer.headers["www-authenticate"]);
      throw new LoginRenewed(`${request.what}: the login had to be renewed`);
    }
    return followed(request, answer);
  };

  const followed = async (request: RegistryRequest, first: RegistryAnswer): Promise<RegistryAnswer> => {
    let answer = first;
    for (let hops = 0; request.method === "GET" && REDIRECTS.has(answer.status) && hops < MOST_REDIRECTS; hops++) {
      await discard(answer.body);
      const target = new URL(String(answer.headers.location), answer.url);
      answer = await raw(target, { method: "GET", headers: request.headers ?? {}, ...signalOf(request) });
    }
    if (request.expect.includes(answer.status)) return answer;
    throw await toRegistryError(request.what, answer);
  };

  const retrying: Transport["retrying"] = async (signal, attempt) => {
    let logins = 0;
    for (let tried = 1; ; tried++) {
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof LoginRenewed) {
          if (++logins > MOST_LOGINS)
            throw new RegistryDenied(`${origin.host} refuses the login that it has just given`);
          tried--;
          continue;
        }
        if (!(error instanceof RegistryError && error.retryable) || tried >= maxAttempts) throw error;
        await pause(backoff(config.backoffMs ?? 200, tried, error), undefined, signal ? { signal } : {});
      }
    }
  };

  return {
    origin,
    retrying,
    request: (request) =>
      request.repeatable === false ? once(request) : retrying(request.signal, () => once(request)),
    close: () => agent.destroy(),
  };
}

type RawOptions = Pick<Dispatcher.RequestOptions, "method" | "headers"> & {
  body?: Buffer | Readable | null;
  signal?: AbortSignal;
};

function signalOf({ signal }: RegistryRequest): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** Reads a small rest so that the connection can be used again, and drops a large one. */
export async function discard(body: Readable): Promise<void> {
  await readBounded(body, 64 << 10, "An answer").catch(() => body.destroy());
}

function backoff(firstMs: number, tried: number, error: RegistryError): number {
  const asked = error instanceof RegistryUnavailable ? error.retryAfterMs : undefined;
  const grown = firstMs * 2 ** (tried - 1) * (0.5 + Math.random() / 2);
  return Math.min(Math.max(asked ?? 0, grown), LONGEST_PAUSE_MS);
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown reason";
  return ("code" in cause && typeof cause.code === "string" ? `${cause.code} ` : "") + cause.message.slice(0, 200);
}
