import type { CallResult } from "@sless/invoker";
import { createSeriesCap, type Metrics } from "@sless/telemetry";

export type ListenerName = "public" | "internal";

/** Whose doing an end was; the same words as in `x-sless-fault-source`. */
type Outcome = "ok" | "function" | "platform" | "client";

/** Counts calls. Labels come from closed sets; names of functions are capped (security 29, D37). */
export interface CallMeter {
  record(listener: ListenerName, functionKey: string, result: CallResult, totalMs: number): void;
  /** A request that led to no function. */
  recordRefusal(listener: ListenerName, reason: string): void;
  /** Drops a deleted function's series. */
  forget(functionKey: string): void;
}

/** Functions with a series of their own; the others share one. */
const MAX_FUNCTIONS = 1000;
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

const outcomeOf = ({ clientGone, fault }: CallResult): Outcome => (clientGone ? "client" : (fault?.source ?? "ok"));

/**
 * Counters of the hot path are plain numbers that a scrape copies: prom-client hashes the labels at each increment,
 * which would cost more than all the rest of a call's bookkeeping.
 */
class Tally<K extends string> {
  readonly #counts = new Map<K, number>();

  add(key: K): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  delete(key: K): void {
    this.#counts.delete(key);
  }

  [Symbol.iterator](): IterableIterator<[K, number]> {
    return this.#counts[Symbol.iterator]();
  }
}

/** What the counters are read from besides: gauges of the moment. */
interface Gauges {
  readonly held: () => number;
  readonly hosts: () => number;
}

const registerTally = <K extends string>(
  metrics: Metrics,
  tally: Tally<K>,
  { name, help, labelNames }: { name: string; help: string; labelNames: readonly string[] },
): void => {
  metrics.counter({
    name,
    help,
    labelNames: [...labelNames],
    collect() {
      this.reset();
      for (const [key, count] of tally) {
        const values = key.split(" ");
        this.inc(Object.fromEntries(labelNames.map((label, index) => [label, values[index] ?? ""])), count);
      }
    },
  });
};

export const createCallMeter = (metrics: Metrics, { held, hosts }: Gauges): CallMeter => {
  const byReason = new Tally<`${ListenerName} ${Outcome} ${string}`>();
  const byFunction = new Tally<`${string} ${Outcome}`>();
  const functions = createSeriesCap(MAX_FUNCTIONS);
  registerTally(metrics, byReason, {
    name: "sless_gateway_calls_total",
    help: "Calls by listener, whose doing their end was, and the fault's reason.",
    labelNames: ["listener", "outcome", "reason"],
  });
  registerTally(metrics, byFunction, {
    name: "sless_gateway_function_calls_total",
    help: "Calls by function (tenant namespace/name) and whose doing their end was.",
    labelNames: ["function", "outcome"],
  });
  const seconds = metrics.histogram({
    name: "sless_gateway_call_seconds",
    help: "From the request's head to the end of its answer.",
    buckets: SECONDS_BUCKETS,
  });
  const queueSeconds = metrics.histogram({
    name: "sless_gateway_queue_seconds",
    help: "Wait for a free instance, of the calls that had to wait.",
    buckets: SECONDS_BUCKETS,
  });
  const gauge = (name: string, help: string, read: () => number): void =>
    void metrics.gauge({
      ...{ name, help },
      collect() {
        this.set(read());
      },
    });
  gauge("sless_gateway_calls_in_flight", "Calls held now.", held);
  gauge("sless_gateway_hosts", "Hosts that lead to a function.", hosts);
  return {
    record: (listener, functionKey, result, totalMs) => {
      const outcome = outcomeOf(result);
      byReason.add(`${listener} ${outcome} ${result.fault?.reason ?? "none"}`);
      byFunction.add(`${functions.label(functionKey)} ${outcome}`);
      seconds.observe(totalMs / 1000);
      if (result.queueMs > 0) queueSeconds.observe(result.queueMs / 1000);
    },
    recordRefusal: (listener, reason) => byReason.add(`${listener} client ${reason}`),
    forget: (functionKey) => {
      functions.release(functionKey);
      for (const outcome of ["ok", "function", "platform", "client"] as const)
        byFunction.delete(`${functionKey} ${outcome}`);
    },
  };
};
