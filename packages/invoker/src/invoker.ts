import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS } from "@sless/contracts";
import { Admission } from "./admission.js";
import { sendOnce, type AttemptResult, type AttemptSpec } from "./attempt.js";
import { ClientGoneError, ClientWatch } from "./client-watch.js";
import { Endpoint, type EndpointAddress } from "./endpoint.js";
import {
  makeBodyTooLargeFault,
  makeQueueTimeoutFault,
  makeUnreachableFault,
  makeUnrepeatableFault,
  type CallFault,
} from "./faults.js";
import type { AnswerHeadReader, HeaderList } from "./headers.js";
import { ReplayBudget } from "./replay-budget.js";
import { BodyTooLargeError, readRequestBody, type RequestBody } from "./request-body.js";
import { VersionPool } from "./version-pool.js";

export interface InvokerOptions {
  /** Calls held at once; a tenant gets a quarter. */
  readonly maxCalls: number;
  readonly maxQueuedPerVersion: number;
  readonly queueSeconds: number;
  readonly maxBodyBytes: number;
  /** Bytes of large bodies that are kept at once so that a refused call can be sent to another pod. */
  readonly replayBytes?: number;
}

/** One call to one version. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly tenant: string;
  readonly requestId: string;
  /** Namespace of the version's workload, and the version's uid. */
  readonly namespace: string;
  readonly versionUid: string;
  readonly timeoutSec: number;
  readonly concurrency: number;
  /** Raw path and query that the function shall see; begins with a slash. */
  readonly path: string;
  readonly host: string;
  /** Headers for the function, already filtered; the platform's are added here. */
  readonly headers: HeaderList;
  /** Value of `x-sless-context`. */
  readonly context: string;
  readonly readHead: AnswerHeadReader;
  /** Headers that are added to the function's answer. */
  readonly answerHeaders: HeaderList;
}

/** How a call ended. With a `fault` and `answerBegun: false` the caller has to answer the client itself. */
export interface CallResult {
  readonly status: number | undefined;
  readonly fault: CallFault | undefined;
  readonly answerBegun: boolean;
  readonly clientGone: boolean;
  /** Times the call was offered to a pod. */
  readonly attempts: number;
  /** Waited for an instance, milliseconds. */
  readonly queueMs: number;
  /** The handler ran, milliseconds, as the runtime says. */
  readonly runMs: number | undefined;
}

export interface VersionLoad {
  readonly versionUid: string;
  readonly inFlight: number;
  readonly queued: number;
  /** Milliseconds since the epoch. */
  readonly lastCallTime: number | undefined;
}

export interface Invoker {
  /** Takes over which pods a version has; none: it has gone. */
  setEndpoints(namespace: string, versionUid: string, addresses: readonly EndpointAddress[]): void;
  /** Makes a call and passes its answer on. Never rejects for what a client or a pod does. */
  invoke(call: Call): Promise<CallResult>;
  /** Versions with endpoints or calls. */
  loads(): VersionLoad[];
  /** Calls held now. */
  readonly held: number;
  /** Closes idle sockets. Calls under way are not touched. */
  close(): void;
}

interface ActivePool {
  readonly versionUid: string;
  readonly pool: VersionPool;
  /** Calls from their choice of this version to their end, those whose body is still coming among them. */
  held: number;
  lastCallTime: number | undefined;
}

interface Progress {
  attempts: number;
  queueMs: number;
}

const DEFAULT_REPLAY_BYTES = 64 * 1024 * 1024;

const poolKey = (namespace: string, versionUid: string): string => `${namespace}/${versionUid}`;

/** Creates the part that brings calls to pods: bounded, fair between tenants, each call sent at most once (D40). */
export const createInvoker = (options: InvokerOptions): Invoker => {
  const admission = new Admission(options.maxCalls);
  const replay = new ReplayBudget(options.replayBytes ?? DEFAULT_REPLAY_BYTES);
  const queueMs = options.queueSeconds * 1000;
  const pools = new Map<string, ActivePool>();

  const poolOf = (namespace: string, versionUid: string): ActivePool => {
    const key = poolKey(namespace, versionUid);
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool = new VersionPool({ maxQueued: options.maxQueuedPerVersion, queueMs });
    const active: ActivePool = { versionUid, pool, held: 0, lastCallTime: undefined };
    pools.set(key, active);
    return active;
  };

  const forgetIdle = (namespace: string, { versionUid, pool, held }: ActivePool): void => {
    if (pool.isIdle && held === 0) pools.delete(poolKey(namespace, versionUid));
  };

  /** One offer to one pod, and what it teaches about the pod. */
  const offer = async (endpoint: Endpoint, spec: AttemptSpec): Promise<AttemptResult> => {
    const client = endpoint.takeClient();
    const result = await sendOnce(client, spec);
    endpoint.giveClient(client);
    if (result.kind === "unsent") endpoint.backOff();
    else if (result.kind !== "refused") endpoint.markAnswered();
    else if (result.reason === "draining" || result.reason === "wrong-version") endpoint.stopAccepting();
    else endpoint.backOff();
    return result;
  };

  const takePlace = async (
    pool: VersionPool,
    call: Call,
    watch: ClientWatch,
    progress: Progress,
  ): Promise<Endpoint | CallFault> => {
    const place = pool.tryTake(call.concurrency);
    if (place !== undefined) return place;
    const start = performance.now();
    const until = start + queueMs - progress.queueMs;
    const first = progress.attempts > 0;
    const waited = await pool.wait({ concurrency: call.concurrency, until, first, watch });
    progress.queueMs += performance.now() - start;
    return waited;
  };

  /** The fault that ends a call which one more pod did not take; undefined when another may be tried. */
  const lastStraw = (
    result: Extract<AttemptResult, { kind: "refused" | "unsent" }>,
    body: RequestBody,
    offeredForMs: number,
  ): CallFault | undefined => {
    if (result.kind === "refused" && !body.repeatable) return makeUnrepeatableFault(result.reason);
    if (offeredForMs < queueMs) return undefined;
    return result.kind === "unsent" ? makeUnreachableFault() : makeQueueTimeoutFault(options.queueSeconds);
  };

  const send = async (
    { pool }: ActivePool,
    call: Call,
    spec: AttemptSpec,
    progress: Progress,
  ): Promise<AttemptResult> => {
    const start = performance.now();
    for (;;) {
      const place = await takePlace(pool, call, spec.watch, progress);
      if (!(place instanceof Endpoint)) return { kind: "fault", fault: place, runMs: undefined };
      progress.attempts++;
      const result = await offer(place, spec);
      pool.release(place);
      if (result.kind !== "refused" && result.kind !== "unsent") return result;
      const fault = lastStraw(result, spec.body, performance.now() - start);
      if (fault !== undefined) return { kind: "fault", fault, runMs: undefined };
    }
  };

  const resultOfThrown = (error: unknown): AttemptResult => {
    if (error instanceof ClientGoneError) return { kind: "gone" };
    if (!(error instanceof BodyTooLargeError)) throw error;
    return { kind: "fault", fault: makeBodyTooLargeFault(options.maxBodyBytes), runMs: undefined };
  };

  const run = async (call: Call, progress: Progress): Promise<AttemptResult> => {
    const watch = new ClientWatch(call.response);
    const active = poolOf(call.namespace, call.versionUid);
    let body: RequestBody | undefined;
    active.lastCallTime = Date.now();
    active.held++;
    try {
      body = await readRequestBody(call.request, { maxBytes: options.maxBodyBytes, replay });
      return await send(active, call, makeSpec(call, watch, body, options.maxBodyBytes), progress);
    } catch (error) {
      return resultOfThrown(error);
    } finally {
      body?.close();
      active.held--;
      forgetIdle(call.namespace, active);
    }
  };

  return {
    setEndpoints: (namespace, versionUid, addresses) => {
      const active = poolOf(namespace, versionUid);
      active.pool.setEndpoints(addresses);
      forgetIdle(namespace, active);
    },
    invoke: async (call) => {
      const progress: Progress = { attempts: 0, queueMs: 0 };
      const refusal = admission.enter(call.tenant);
      if (refusal !== undefined) return toCallResult({ kind: "fault", fault: refusal, runMs: undefined }, progress);
      try {
        return toCallResult(await run(call, progress), progress);
      } finally {
        admission.leave(call.tenant);
      }
    },
    loads: () =>
      [...pools.values()].map(({ versionUid, pool, held, lastCallTime }) => ({
        versionUid,
        inFlight: held - pool.queued,
        queued: pool.queued,
        lastCallTime,
      })),
    get held() {
      return admission.total;
    },
    close: () => {
      for (const { pool } of pools.values()) pool.close();
    },
  };
};

const makeSpec = (call: Call, watch: ClientWatch, body: RequestBody, maxBodyBytes: number): AttemptSpec => {
  const headers = call.headers;
  headers.push("host", call.host, HEADERS.requestId, call.requestId, HEADERS.versionUid, call.versionUid);
  headers.push(HEADERS.deadlineMs, String(call.timeoutSec * 1000), HEADERS.context, call.context);
  if (body.contentLength !== undefined) headers.push("content-length", String(body.contentLength));
  const { request, response, path, versionUid, timeoutSec, readHead, answerHeaders } = call;
  return {
    request,
    response,
    watch,
    path,
    headers,
    body,
    maxBodyBytes,
    versionUid,
    timeoutSec,
    readHead,
    answerHeaders,
  };
};

const toCallResult = (result: AttemptResult, { attempts, queueMs }: Progress): CallResult => ({
  status: result.kind === "answered" ? result.status : undefined,
  fault: result.kind === "fault" || result.kind === "broken" ? result.fault : undefined,
  answerBegun: result.kind === "answered" || result.kind === "broken",
  clientGone: result.kind === "gone",
  attempts,
  queueMs,
  runMs: "runMs" in result ? result.runMs : undefined,
});
