import type { Readable } from "node:stream";
import { Agent, request as send, type Dispatcher } from "undici";
import { createAuthorizer, type Scope } from "./auth.js";
import { readBounded } from "./bounded-body.js";
import { DEFAULT_REGISTRY_TIMEOUTS, type RegistryConfig } from "./config.js";
import { RegistryUnavailable } from "./errors.js";
import { toRegistryError } from "./failures.js";
import { LoginRenewed, retrying } from "./retry.js";

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

const TOKEN_ANSWER_BYTES = 256 << 10;
const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function createTransport(config: RegistryConfig): Transport {
  const origin = new URL(config.url);
  const timeouts = { ...DEFAULT_REGISTRY_TIMEOUTS, ...config.timeouts };
  const policy = { maxAttempts: config.maxAttempts ?? 4, backoffMs: config.backoffMs ?? 200 };
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
    const ours = url.origin === origin.origin;
    const body = typeof request.body === "function" ? await request.body() : request.body;
    const login = ours ? loginFor(request.scopes) : {};
    const headers = { ...request.headers, ...login };
    const answer = await raw(url, { method: request.method, headers, body: body ?? null, ...signalOf(request) });
    if (answer.status !== 401 || !ours) return followed(request, answer);
    await discard(answer.body);
    await auth.renew(request.scopes, answer.headers["www-authenticate"], login.authorization);
    throw new LoginRenewed(`${request.what}: the login had to be renewed`);
  };

  const loginFor = (scopes: readonly Scope[]): { readonly authorization?: string } => {
    const authorization = auth.header(scopes);
    return authorization === undefined ? {} : { authorization };
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

  return {
    origin,
    retrying: (signal, attempt) => retrying(policy, signal, attempt),
    request: (request) =>
      request.repeatable === false ? once(request) : retrying(policy, request.signal, () => once(request)),
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

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown reason";
  return ("code" in cause && typeof cause.code === "string" ? `${cause.code} ` : "") + cause.message.slice(0, 200);
}
