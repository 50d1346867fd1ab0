import { page } from "@sless/contracts";
import { z } from "zod";
import { EndpointError, WaitTimeout } from "./errors.js";
import type { CallOptions, Transport } from "./transport.js";

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
export interface WaitResult<Item> {
  readonly outcome: "done" | "failed" | "timeout";
  /** Undefined when it is gone. */
  readonly value: Item | undefined;
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
  wait(name: string, options: AwaitOptions<Item>): Promise<WaitResult<Item>>;
  /** Waits until the item is gone. @throws WaitTimeout */
  gone(name: string, options?: Omit<WaitOptions, "wait">): Promise<void>;
}

const DEFAULT_WAIT_SEC = 60;
const DEFAULT_AWAIT_SEC = 300;
/** Longest single poll: proxies cut connections that are silent for longer. */
const POLL_SEC = 50;
/** Beyond the wait itself, what the network and the API may take. */
const WAIT_MARGIN_MS = 15_000;

const Outcome = z.enum(["done", "failed", "timeout"]);

/** The value, if it has the form that this client expects. @throws EndpointError */
export const check = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new EndpointError(
    `The endpoint's answer is not what this client expects (${issue?.path.join(".")}: ${issue?.message}). Is it a sless API of this version?`,
  );
};

/** Headers of a write. */
export const writeHeaders = ({ ifMatch, idempotencyKey }: WriteOptions = {}): CallOptions["headers"] => ({
  "if-match": ifMatch,
  "idempotency-key": idempotencyKey,
});

/** A signal as an option, if there is one. */
export const withSignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } => (signal ? { signal } : {});

/** Items of one kind below a path. */
export const createCollection = <Item, Create, Replace, Patch>(
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

  const poll = async (name: string, options: AwaitOptions<Item>, timeout: number): Promise<WaitResult<Item>> => {
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
  const wait = async (name: string, options: AwaitOptions<Item>): Promise<WaitResult<Item>> => {
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
