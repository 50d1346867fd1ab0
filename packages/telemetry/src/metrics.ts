import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type CounterConfiguration,
  type GaugeConfiguration,
  type HistogramConfiguration,
} from "prom-client";

type Unregistered<C> = Omit<C, "registers">;

/** A registry of one process. Nothing is global, so that two components in one process (or test) do not collide. */
export interface Metrics {
  counter<L extends string>(options: Unregistered<CounterConfiguration<L>>): Counter<L>;
  gauge<L extends string>(options: Unregistered<GaugeConfiguration<L>>): Gauge<L>;
  /** Buckets are in the unit of what is observed; name it with its unit (`_seconds`, `_bytes`). */
  histogram<L extends string>(options: Unregistered<HistogramConfiguration<L>>): Histogram<L>;
  /** Everything in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
  readonly registry: Registry;
}

/**
 * Creates a registry with Node's default metrics; `component` becomes a label on every series. Label values must come
 * from closed sets (security 29); for names that tenants choose, see `createSeriesCap`.
 */
export const createMetrics = ({ component }: { readonly component: string }): Metrics => {
  const registry = new Registry();
  registry.setDefaultLabels({ component });
  collectDefaultMetrics({ register: registry });
  return {
    counter: (options) => new Counter({ ...options, registers: [registry] }),
    gauge: (options) => new Gauge({ ...options, registers: [registry] }),
    histogram: (options) => new Histogram({ ...options, registers: [registry] }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  };
};
