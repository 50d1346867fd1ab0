import type { Readable } from "node:stream";
import {
  FunctionBody,
  LogLine,
  page,
  RollbackResult,
  RuntimeBody,
  TriggerBody,
  UploadResult,
  VersionBody,
  WhoAmI,
  type CreateFunction,
  type CreateTrigger,
  type FunctionSettings,
  type PatchFunction,
  type PatchTrigger,
  type RollbackRequest,
  type TriggerSettings,
} from "@sless/contracts";
import { z } from "zod";
import { EndpointError, WaitTimeout } from "./errors.js";
import { readLines } from "./lines.js";
import { metered } from "./metered.js";
import {
  createTransport,
  toApiError,
  type CallOptions,
  type ClientOptions,
  type RawAnswer,
  type Transport,
} from "./transport.js";

/** What a write may carry besides its body. */
export interface WriteOptions {
  /** ETag that the item must still have; else 412. */
  readonly ifMatch?: string;
  /** Makes the write safe to repeat; the client then repeats it itself after a lost answer. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface WaitOptions {
  readonly wait?: "ready" | "gone";
  /** Seconds. */
  readonly timeout?: number;
  /** Generation of the write to wait for. */
  readonly generation?: number;
  readonly signal?: AbortSignal;
}

export interface ListOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly signal?: AbortSignal;
}

export interface LogOptions {
  readonly follow?: boolean;
  readonly tail?: number;
  /** Duration back from now, or RFC 3339. */
  readonly since?: string;
  readonly version?: number;
  readonly signal?: AbortSignal;
}

export interface Upload extends WriteOptions {
  readonly body: Buffer | Readable;
  readonly size: number;
  /** Only stores the code; a later write with its digest activates it. */
  readonly stage?: boolean;
  /** Told as bytes go out. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
}

/** A wait as long as it takes, in as many long polls as that needs. */
export interface AwaitOptions<Item> {
  readonly until: "ready" | "gone";
  /** Seconds in all. Default 300. */
  readonly timeout?: number;
  /** Generation of the write to wait for. */
  readonly generation?: number;
  readonly signal?: AbortSignal;
  /** Told what each poll brought. */
  readonly onProgress?: (item: Item) => void;
}

/** `failed`: it will not become ready without a change; its status says why. */
export interface Awaited<Item> {
  readonly outcome: "done" | "failed" | "timeout";
  /** Undefined when it is gone. */
  readonly value: Item | undefined;
}

export interface InvokeOptions {
  readonly method?: CallOptions["method"];
  /** Begins with a slash; may carry a query. Sent as it is. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
  readonly signal?: AbortSignal;
}

/** An item with the ETag that a later write can be bound to. */
export interface Tagged<T> {
  readonly value: T;
  readonly etag: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly continue?: string;
}

/** Items of one kind below the caller's namespace. */
export interface Collection<Item, Create, Replace, Patch> {
  list(options?: ListOptions): Promise<Page<Item>>;
  /** Every item, page by page. */
  all(signal?: AbortSignal): AsyncGenerator<Item>;
  get(name: string, options?: WaitOptions): Promise<Tagged<Item>>;
  create(body: Create, options?: WriteOptions): Promise<Tagged<Item>>;
  replace(name: string, body: Replace, options?: WriteOptions): Promise<Tagged<Item>>;
  patch(name: string, body: Patch, options?: WriteOptions): Promise<Tagged<Item>>;
  delete(name: string, options?: WriteOptions): Promise<void>;
  /** Waits until the item is ready or gone, or can't become so. */
  wait(name: string, options: AwaitOptions<Item>): Promise<Awaited<Item>>;
  /** Waits until the item is gone. @throws WaitTimeout */
  gone(name: string, options?: Omit<WaitOptions, "wait">): Promise<void>;
}

export interface Functions extends Collection<FunctionBody, CreateFunctionInput, FunctionSettingsInput, PatchFunction> {
  upload(name: string, upload: Upload): Promise<UploadResult>;
  versions(name: string, signal?: AbortSignal): Promise<readonly VersionBody[]>;
  rollback(name: string, request: RollbackRequest, options?: WriteOptions): Promise<RollbackResult>;
  /** Calls the function; whatever it answers, errors included, is returned. */
  invoke(name: string, options?: InvokeOptions): Promise<RawAnswer>;
  logs(name: string, options?: LogOptions): AsyncGenerator<LogLine>;
}

/** Bodies as their writers see them: what has a default may be left out. */
export type CreateFunctionInput = z.input<typeof CreateFunction>;
export type FunctionSettingsInput = z.input<typeof FunctionSettings>;
export type CreateTriggerInput = z.input<typeof CreateTrigger>;
export type TriggerSettingsInput = z.input<typeof TriggerSettings>;

/** The REST API of one endpoint, as one user. Every answer is checked against its schema. */
export interface SlessClient {
  whoami(signal?: AbortSignal): Promise<WhoAmI>;
  runtimes(signal?: AbortSignal): Promise<readonly RuntimeBody[]>;
  readonly functions: Functions;
  readonly triggers: Collection<TriggerBody, CreateTriggerInput, TriggerSettingsInput, PatchTrigger>;
  /** Removes the tenant with everything in it. */
  deleteNamespace(namespace: string, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_WAIT_SEC = 60;
const DEFAULT_AWAIT_SEC = 300;
/** Longest single poll: proxies cut connections that are silent for longer. */
const POLL_SEC = 50;
/** Beyond the wait itself, what the network and the API may take. */
const WAIT_MARGIN_MS = 15_000;
const UPLOAD_TIMEOUT_MS = 300_000;
/** Longest timeout of a function, and a little. */
const INVOKE_TIMEOUT_MS = 930_000;

const Outcome = z.enum(["done", "failed", "timeout"]);

const check = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new EndpointError(
    `The endpoint's answer is not what this client expects (${issue?.path.join(".")}: ${issue?.message}). Is it a sless API of this version?`,
  );
};

const writeHeaders = ({ ifMatch, idempotencyKey }: WriteOptions = {}): CallOptions["headers"] => ({
  "if-match": ifMatch,
  "idempotency-key": idempotencyKey,
});

const withSignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } => (signal ? { signal } : {});

const createCollection = <Item, Create, Replace, Patch>(
  transport: Transport,
  path: string,
  schema: z.ZodType<Item>,
): Collection<Item, Create, Replace, Patch> => {
  const itemPath = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const Items = page(schema);

  const tagged = async (target: string, options: CallOptions): Promise<Tagged<Item>> => {
    const { value, headers } = await transport.json(target, options);
    const etag = headers["etag"];
    return { value: check(schema, value), etag: Array.isArray(etag) ? etag[0] : etag };
  };
  const write = (method: "POST" | "PUT" | "PATCH", target: string, json: unknown, options: WriteOptions = {}) =>
    tagged(target, {
      method,
      json,
      headers: {
        ...writeHeaders(options),
        ...(method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {}),
      },
      ...withSignal(options.signal),
    });
  const list = async ({ limit, continue: from, signal }: ListOptions = {}): Promise<Page<Item>> => {
    const { value } = await transport.json(path, { query: { limit, continue: from }, ...withSignal(signal) });
    const { items, continue: next } = check(Items, value);
    return next === undefined ? { items } : { items, continue: next };
  };

  const poll = async (name: string, options: AwaitOptions<Item>, timeout: number): Promise<Awaited<Item>> => {
    const { until, generation, signal } = options;
    const { value, headers } = await transport.json(itemPath(name), {
      query: { wait: until, timeout, generation },
      timeoutMs: timeout * 1000 + WAIT_MARGIN_MS,
      ...withSignal(signal),
    });
    const outcome = Outcome.safeParse(headers["x-sless-wait"]);
    return {
      outcome: outcome.success ? outcome.data : "timeout",
      value: value === undefined ? undefined : check(schema, value),
    };
  };
  const wait = async (name: string, options: AwaitOptions<Item>): Promise<Awaited<Item>> => {
    const end = performance.now() + (options.timeout ?? DEFAULT_AWAIT_SEC) * 1000;
    for (;;) {
      const left = Math.ceil((end - performance.now()) / 1000);
      const result = await poll(name, options, Math.max(1, Math.min(POLL_SEC, left)));
      if (result.value !== undefined) options.onProgress?.(result.value);
      if (result.outcome !== "timeout" || performance.now() >= end) return result;
    }
  };

  return {
    list,
    wait,
    async *all(signal) {
      let from: string | undefined;
      do {
        const { items, continue: next } = await list({
          ...(from === undefined ? {} : { continue: from }),
          ...(signal ? { signal } : {}),
        });
        yield* items;
        from = next;
      } while (from !== undefined);
    },
    get: (name, { wait, timeout = DEFAULT_WAIT_SEC, generation, signal } = {}) =>
      tagged(itemPath(name), {
        query: wait === undefined ? {} : { wait, timeout, generation },
        ...(wait === undefined ? {} : { timeoutMs: timeout * 1000 + WAIT_MARGIN_MS }),
        ...withSignal(signal),
      }),
    create: (body, options) => write("POST", path, body, options),
    replace: (name, body, options) => write("PUT", itemPath(name), body, options),
    patch: (name, body, options) => write("PATCH", itemPath(name), body, options),
    async delete(name, options = {}) {
      await transport.json(itemPath(name), {
        method: "DELETE",
        headers: writeHeaders(options) ?? {},
        ...withSignal(options.signal),
      });
    },
    async gone(name, { timeout = DEFAULT_WAIT_SEC, signal } = {}) {
      const { outcome } = await wait(name, { until: "gone", timeout, ...withSignal(signal) });
      if (outcome !== "done") throw new WaitTimeout(`${name} is not gone after ${timeout} s.`);
    },
  };
};

const createFunctions = (transport: Transport, path: string): Functions => {
  const collection = createCollection<FunctionBody, CreateFunctionInput, FunctionSettingsInput, PatchFunction>(
    transport,
    path,
    FunctionBody,
  );
  const itemPath = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const Versions = page(VersionBody);

  return {
    ...collection,
    async upload(name, { body, size, stage = false, signal, onProgress, ...conditions }) {
      const { value } = await transport.json(`${itemPath(name)}/upload`, {
        method: "POST",
        query: stage ? { stage: true } : {},
        headers: { ...writeHeaders(conditions), "content-type": "application/zip", "content-length": String(size) },
        body: onProgress ? metered(body, size, onProgress) : body,
        timeoutMs: UPLOAD_TIMEOUT_MS,
        ...withSignal(signal),
      });
      return check(UploadResult, value);
    },
    async versions(name, signal) {
      const { value } = await transport.json(`${itemPath(name)}/versions`, withSignal(signal));
      return check(Versions, value).items;
    },
    async rollback(name, request, options = {}) {
      const { value } = await transport.json(`${itemPath(name)}/rollback`, {
        method: "POST",
        json: request,
        headers: writeHeaders(options) ?? {},
        ...withSignal(options.signal),
      });
      return check(RollbackResult, value);
    },
    invoke: (name, { method = "POST", path: target = "", headers = {}, body, signal } = {}) =>
      transport.raw(`${itemPath(name)}/invoke${target}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: INVOKE_TIMEOUT_MS,
        silenceMs: INVOKE_TIMEOUT_MS,
        ...withSignal(signal),
      }),
    async *logs(name, { follow, tail, since, version, signal } = {}) {
      const answer = await transport.raw(`${itemPath(name)}/logs`, {
        query: { follow, tail, since, version },
        silenceMs: 0,
        ...withSignal(signal),
      });
      if (answer.statusCode !== 200) throw await toApiError(answer);
      for await (const line of readLines(answer.body)) yield check(LogLine, JSON.parse(line));
    },
  };
};

/**
 * A client of the REST API, below the caller's own namespace unless another is named.
 * @throws EndpointError for an endpoint that would carry the token in clear
 */
export const createClient = (options: ClientOptions): SlessClient => {
  const transport = createTransport(options);
  const namespace = `/v1/namespaces/${encodeURIComponent(options.namespace ?? "me")}`;
  const Runtimes = page(RuntimeBody);
  return {
    whoami: async (signal) => check(WhoAmI, (await transport.json("/v1/whoami", withSignal(signal))).value),
    runtimes: async (signal) => check(Runtimes, (await transport.json("/v1/runtimes", withSignal(signal))).value).items,
    functions: createFunctions(transport, `${namespace}/functions`),
    triggers: createCollection(transport, `${namespace}/triggers`, TriggerBody),
    async deleteNamespace(name, signal) {
      const path = `/v1/namespaces/${encodeURIComponent(name)}`;
      await transport.json(path, { method: "DELETE", query: { confirm: name }, ...withSignal(signal) });
    },
    close: () => transport.close(),
  };
};
