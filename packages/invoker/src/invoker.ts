import { HEADERS } from "@sless/contracts";
import { Admission } from "./admission.js";
import { sendOnce, type AttemptResult, type Outgoing } from "./attempt.js";
import type { Call } from "./call.js";
import { ClientGoneError, ClientWatch } from "./client-watch.js";
import { Endpoint, type EndpointAddress } from "./endpoint.js";
import {
  makeBodyTooLargeFault,
  makeQueueTimeoutFault,
  makeUnreachableFault,
  makeUnrepeatableFault,
  type CallFault,
} from "./faults.js";
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

const NO_PROGRESS: Progress = { attempts: 0, queueMs: 0 };

const refuse = (fault: CallFault): AttemptResult => ({ kind: "fault", fault, runMs: undefined });

const DEFAULT_REPLAY_BYTES = 64 * 1024 * 1024;

const poolKey = (namespace: string, versionUid: string): string => `${namespace}/${versionUid}`;

/** Creates the part that brings calls to pods: bounded, fair between tenants, each call sent at most once (D40). */
export const createInvoker = (options: InvokerOptions): Invoker => {
  const admission = new Admission(options.maxCalls);
  const replay = new ReplayBudget(options.replayBytes ?? DEFAULT_REPLAY_BYTES);
  const bodyOptions = { maxBytes: options.maxBodyBytes, replay };
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

  const wait = async (
    pool: VersionPool,
    { call, watch }: Outgoing,
    progress: Progress,
  ): Promise<Endpoint | CallFault> => {
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

  const send = async (pool: VersionPool, outgoing: Outgoing, progress: Progress): Promise<AttemptResult> => {
    const start = performance.now();
    for (;;) {
      const place = pool.tryTake(outgoing.call.concurrency) ?? (await wait(pool, outgoing, progress));
      if (!(place instanceof Endpoint)) return refuse(place);
      progress.attempts++;
      const result = await sendOnce(place, outgoing);
      pool.release(place);
      if (result.kind !== "refused" && result.kind !== "unsent") return result;
      const fault = lastStraw(result, outgoing.body, performance.now() - start);
      if (fault !== undefined) return refuse(fault);
    }
  };

  const resultOfThrown = (error: unknown): AttemptResult => {
    if (error instanceof ClientGoneError) return { kind: "gone" };
    if (!(error instanceof BodyTooLargeError)) throw error;
    return refuse(makeBodyTooLargeFault(options.maxBodyBytes));
  };

  const run = async (call: Call): Promise<CallResult> => {
    const progress: Progress = { attempts: 0, queueMs: 0 };
    const watch = new ClientWatch(call.response);
    const active = poolOf(call.namespace, call.versionUid);
    let body: RequestBody | undefined;
    active.lastCallTime = Date.now();
    active.held++;
    try {
      const read = readRequestBody(call.request, bodyOptions);
      body = read instanceof Promise ? await read : read;
      addPlatformHeaders(call, body);
      const outgoing = { call, watch, body, maxBodyBytes: options.maxBodyBytes };
      return toCallResult(await send(active.pool, outgoing, progress), progress);
    } catch (error) {
      return toCallResult(resultOfThrown(error), progress);
    } finally {
      body?.close();
      active.held--;
      forgetIdle(call.namespace, active);
      admission.leave(call.tenant);
    }
  };

  return {
    setEndpoints: (namespace, versionUid, addresses) => {
      const active = poolOf(namespace, versionUid);
      active.pool.setEndpoints(addresses);
      forgetIdle(namespace, active);
    },
    invoke: (call) => {
      const refusal = admission.enter(call.tenant);
      return refusal === undefined ? run(call) : Promise.resolve(toCallResult(refuse(refusal), NO_PROGRESS));
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

/** The platform's word to the runtime, after everything of the same name from outside was dropped. */
const addPlatformHeaders = (
  { headers, host, requestId, versionUid, timeoutSec, context }: Call,
  body: RequestBody,
): void => {
  headers.push("host", host, HEADERS.requestId, requestId, HEADERS.versionUid, versionUid);
  headers.push(HEADERS.deadlineMs, String(timeoutSec * 1000), HEADERS.context, context);
  if (body.contentLength !== undefined) headers.push("content-length", String(body.contentLength));
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
