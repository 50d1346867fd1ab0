import type { CallResult } from "@sless/invoker";
import { createSeriesCap, createTallyHistogram, type Metrics } from "@sless/telemetry";

export type ListenerName = "public" | "internal";

/** Whose doing an end was; the same words as in `x-sless-fault-source`. */
const OUTCOMES = ["ok", "function", "platform", "client"] as const;
type Outcome = (typeof OUTCOMES)[number];

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

/** Gauges of the moment, read at a scrape. */
interface Gauges {
  readonly held: () => number;
  readonly hosts: () => number;
}

const outcomeOf = ({ clientGone, fault }: CallResult): Outcome => (clientGone ? "client" : (fault?.source ?? "ok"));

type Counts = Record<Outcome, number>;
const noCounts = (): Counts => ({ ok: 0, function: 0, platform: 0, client: 0 });

/**
 * Counts by name and outcome as plain numbers that a scrape copies: prom-client hashes the labels at each increment,
 * which would cost more than all the rest of a call's bookkeeping.
 */
const createTally = () => {
  const byName = new Map<string, Counts>();
  return {
    byName,
    add: (name: string, outcome: Outcome): void => {
      let counts = byName.get(name);
      if (counts === undefined) byName.set(name, (counts = noCounts()));
      counts[outcome]++;
    },
  };
};
type Tally = ReturnType<typeof createTally>;

interface TallyMetric {
  readonly name: string;
  readonly help: string;
  /** Labels of a tally's name, and of which tally. */
  readonly rows: () => Iterable<readonly [Record<string, string>, Counts]>;
  readonly labelNames: readonly string[];
}

const registerTally = (metrics: Metrics, { name, help, rows, labelNames }: TallyMetric): void => {
  metrics.counter({
    name,
    help,
    labelNames: [...labelNames, "outcome"],
    collect() {
      this.reset();
      for (const [labels, counts] of rows()) {
        for (const outcome of OUTCOMES) if (counts[outcome] > 0) this.inc({ ...labels, outcome }, counts[outcome]);
      }
    },
  });
};

const registerGauge = (metrics: Metrics, name: string, help: string, read: () => number): void => {
  metrics.gauge({
    name,
    help,
    collect() {
      this.set(read());
    },
  });
};

const registerCounters = (metrics: Metrics, byReason: Record<ListenerName, Tally>, byFunction: Tally): void => {
  registerTally(metrics, {
    name: "sless_gateway_calls_total",
    help: "Calls by listener, whose doing their end was, and the fault's reason.",
    labelNames: ["listener", "reason"],
    rows: function* () {
      for (const listener of ["public", "internal"] as const) {
        for (const [reason, counts] of byReason[listener].byName) yield [{ listener, reason }, counts];
      }
    },
  });
  registerTally(metrics, {
    name: "sless_gateway_function_calls_total",
    help: "Calls by function (tenant namespace/name) and whose doing their end was.",
    labelNames: ["function"],
    rows: function* () {
      for (const [name, counts] of byFunction.byName) yield [{ function: name }, counts];
    },
  });
};

/** Creates the meter and registers its metrics. */
export const createCallMeter = (metrics: Metrics, { held, hosts }: Gauges): CallMeter => {
  const byReason = { public: createTally(), internal: createTally() };
  const byFunction = createTally();
  const functions = createSeriesCap(MAX_FUNCTIONS);
  registerCounters(metrics, byReason, byFunction);
  const seconds = createTallyHistogram(metrics, {
    name: "sless_gateway_call_seconds",
    help: "From the request's head to the end of its answer.",
    buckets: SECONDS_BUCKETS,
  });
  const queueSeconds = createTallyHistogram(metrics, {
    name: "sless_gateway_queue_seconds",
    help: "Wait for a free instance, of the calls that had to wait.",
    buckets: SECONDS_BUCKETS,
  });
  registerGauge(metrics, "sless_gateway_calls_in_flight", "Calls held now.", held);
  registerGauge(metrics, "sless_gateway_hosts", "Hosts that lead to a function.", hosts);
  return {
    record: (listener, functionKey, result, totalMs) => {
      const outcome = outcomeOf(result);
      byReason[listener].add(result.fault?.reason ?? "none", outcome);
      byFunction.add(functions.label(functionKey), outcome);
      seconds.observe(totalMs / 1000);
      if (result.queueMs > 0) queueSeconds.observe(result.queueMs / 1000);
    },
    recordRefusal: (listener, reason) => byReason[listener].add(reason, "client"),
    forget: (functionKey) => {
      functions.release(functionKey);
      byFunction.byName.delete(functionKey);
    },
  };
};
