import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { makeProblem, Problem } from "@sless/contracts";
import { Agent, type Dispatcher } from "undici";
import { parseEndpoint } from "./endpoint.js";
import { ApiError, EndpointError } from "./errors.js";

const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const TRIES = 4;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
const TRANSIENT = new Set([429, 502, 503, 504]);

export interface ClientOptions {
  /** https://…, or http on loopback. */
  readonly endpoint: string;
  /** Asked before each request, so that a refreshed token is used at once. */
  readonly token: () => string | Promise<string>;
  /** Namespace to work in. Default: the caller's own. */
  readonly namespace?: string;
  /** Program and version, for the API's log. */
  readonly userAgent?: string;
}

export interface CallOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A value is sent as JSON; bytes and streams as they are. */
  readonly json?: unknown;
  readonly body?: Buffer | Readable;
  readonly signal?: AbortSignal | undefined;
  /** How long the head of the answer may take. */
  readonly timeoutMs?: number;
  /** How long the body may be silent; 0 for ever. */
  readonly silenceMs?: number;
}

export type RawAnswer = Dispatcher.ResponseData;

/** Sends requests of one user to one endpoint. */
export interface Transport {
  /** One request, whatever the status of its answer; the body is the caller's to read. */
  raw(path: string, options?: CallOptions): Promise<RawAnswer>;
  /** The value of a 2xx answer. */
  json(path: string, options?: CallOptions): Promise<{ value: unknown; headers: RawAnswer["headers"] }>;
  close(): Promise<void>;
}

const defined = (record: Readonly<Record<string, string | number | boolean | undefined>> = {}): [string, string][] =>
  Object.entries(record).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );

const pathWithQuery = (path: string, query: CallOptions["query"]): string => {
  const parameters = new URLSearchParams(defined(query)).toString();
  return parameters === "" ? path : `${path}?${parameters}`;
};

/** Only what is safe to repeat: reads, and writes that the API recognizes by their key. */
const isRepeatable = ({ method = "GET", headers, body }: CallOptions): boolean =>
  body === undefined && (method === "GET" || method === "HEAD" || headers?.["idempotency-key"] !== undefined);

const readBounded = async (body: RawAnswer["body"]): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new EndpointError(`The answer is larger than ${MAX_ANSWER_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const header = (headers: RawAnswer["headers"], name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** The error of an answer that is none of success; whatever a proxy in between made of it still has a text. */
export const toApiError = async ({ statusCode, headers, body }: RawAnswer): Promise<ApiError | EndpointError> => {
  const text = await readBounded(body);
  const parsed = Problem.safeParse(parseJson(text));
  const retryAfter = Number(header(headers, "retry-after"));
  const seconds = Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : undefined;
  if (parsed.success) return new ApiError(statusCode, parsed.data, seconds, header(headers, "etag"));
  if (statusCode >= 300 && statusCode < 400) {
    return new EndpointError(
      `The endpoint redirects to ${header(headers, "location") ?? "elsewhere"}; a token follows no redirect. Use that address as the endpoint.`,
    );
  }
  const problem = makeProblem(
    "internal",
    `The endpoint answered ${statusCode} without saying why: ${text.slice(0, 200)}`,
    header(headers, "x-request-id") ?? "",
  );
  return new ApiError(statusCode, problem, seconds);
};

const describeFailure = (endpoint: string, error: unknown): Error => {
  if (!(error instanceof Error) || error.name === "AbortError" || error instanceof EndpointError) return error as Error;
  const code = (error as NodeJS.ErrnoException).code;
  return new EndpointError(
    `${endpoint} can't be reached: ${error.message || code || error.name}. Is it running, and is the address right?`,
    { cause: error },
  );
};

/**
 * @throws EndpointError for an endpoint that would carry the token in clear
 */
export const createTransport = ({ endpoint, token, userAgent = "sless-client" }: ClientOptions): Transport => {
  const base = parseEndpoint(endpoint);
  const { origin } = new URL(base);
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });

  const send = async (path: string, options: CallOptions): Promise<RawAnswer> => {
    const {
      method = "GET",
      query,
      headers,
      json,
      body,
      signal,
      timeoutMs = ANSWER_TIMEOUT_MS,
      silenceMs = ANSWER_TIMEOUT_MS,
    } = options;
    try {
      // By origin and path, since a URL would be normalized: a function may be called with `/a/../b`.
      return await agent.request({
        origin,
        path: base.slice(origin.length) + pathWithQuery(path, query),
        method,
        headersTimeout: timeoutMs,
        bodyTimeout: silenceMs,
        signal: signal ?? null,
        body: json === undefined ? (body ?? null) : JSON.stringify(json),
        headers: {
          authorization: `Bearer ${await token()}`,
          "user-agent": userAgent,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...Object.fromEntries(defined(headers)),
        },
      });
    } catch (error) {
      throw describeFailure(base, error);
    }
  };

  const once = async (path: string, options: CallOptions) => {
    const answer = await send(path, options);
    if (answer.statusCode >= 300) throw await toApiError(answer);
    const text = await readBounded(answer.body);
    return { value: text === "" ? undefined : parseJson(text), headers: answer.headers };
  };

  return {
    raw: (path, options = {}) => send(path, options),
    async json(path, options = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(path, options);
        } catch (error) {
          if (attempt >= TRIES || !isRepeatable(options) || !isTransient(error)) throw error;
          await sleep(pauseMs(error, attempt), undefined, options.signal ? { signal: options.signal } : {});
        }
      }
    },
    close: () => agent.close(),
  };
};

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError ? TRANSIENT.has(error.status) : error instanceof EndpointError && error.cause !== undefined;

/** What the API asked for, else doubling with jitter so that clients do not come back together. */
const pauseMs = (error: unknown, attempt: number): number => {
  const asked = error instanceof ApiError ? error.retryAfterSec : undefined;
  if (asked !== undefined) return Math.min(asked * 1000, LONGEST_PAUSE_MS);
  return FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
};
