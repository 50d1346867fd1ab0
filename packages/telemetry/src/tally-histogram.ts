import type { Metrics } from "./metrics.js";

export interface TallyHistogram {
  observe(value: number): void;
}

export interface TallyHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[];
}

/**
 * A histogram without labels for hot paths: observing is one comparison per bucket and two additions, where prom-client
 * copies and hashes label objects. It is exposed like any other histogram.
 */
export const createTallyHistogram = (
  metrics: Metrics,
  { name, help, buckets }: TallyHistogramOptions,
): TallyHistogram => {
  const counts = new Array<number>(buckets.length + 1).fill(0);
  let sum = 0;

  const rows = (): { labels: Record<string, string | number>; metricName: string; value: number }[] => {
    let total = 0;
    const cumulative = counts.map((count, index) => {
      total += count;
      return { labels: { le: buckets[index] ?? "+Inf" }, metricName: `${name}_bucket`, value: total };
    });
    return [
      ...cumulative,
      { labels: {}, metricName: `${name}_sum`, value: sum },
      { labels: {}, metricName: `${name}_count`, value: total },
    ];
  };

  const metric = {
    name,
    get: () => Promise.resolve({ name, help, type: "histogram", aggregator: "sum", values: rows() }),
    reset: () => {
      counts.fill(0);
      sum = 0;
    },
  };
  // prom-client's types name only its own classes; its registry asks for no more than `name`, `get` and `reset`.
  metrics.registry.registerMetric(metric as never);
  return {
    observe: (value) => {
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++;
      counts[bucket] = (counts[bucket] as number) + 1;
      sum += value;
    },
  };
};
