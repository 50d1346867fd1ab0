import type { WorkQueueMetrics } from "@sless/kube";
import type { Metrics } from "@sless/telemetry";
import type { BuildMetrics } from "./builds/build-runner.js";

const SECONDS = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/** Metrics of the controllers' work queues, by client-go's names, labelled with the controller's. */
export const createQueueMetrics = (metrics: Metrics): ((controller: string) => WorkQueueMetrics) => {
  const labelNames = ["name"] as const;
  const depth = metrics.gauge({ name: "workqueue_depth", help: "Keys that wait.", labelNames });
  const adds = metrics.counter({ name: "workqueue_adds_total", help: "Keys added.", labelNames });
  const retries = metrics.counter({ name: "workqueue_retries_total", help: "Keys added after a failure.", labelNames });
  const waiting = { name: "workqueue_queue_duration_seconds", help: "Wait of a key before its work.", labelNames };
  const working = { name: "workqueue_work_duration_seconds", help: "Duration of a reconcile.", labelNames };
  const latency = metrics.histogram({ ...waiting, buckets: SECONDS });
  const duration = metrics.histogram({ ...working, buckets: SECONDS });
  return (name) => ({
    depth: (length) => depth.set({ name }, length),
    add: () => adds.inc({ name }),
    retry: () => retries.inc({ name }),
    latency: (seconds) => latency.observe({ name }, seconds),
    workDuration: (seconds) => duration.observe({ name }, seconds),
  });
};

/** Metrics of image builds. */
export const createBuildMetrics = (metrics: Metrics): BuildMetrics => {
  const running = metrics.gauge({ name: "sless_builds_running", help: "Image builds in work." });
  const queued = metrics.gauge({ name: "sless_builds_queued", help: "Image builds that wait." });
  const duration = metrics.histogram({
    name: "sless_build_duration_seconds",
    help: "Duration of image builds by outcome: built, failed, cancelled.",
    labelNames: ["outcome"],
    buckets: SECONDS,
  });
  return {
    running: (count) => running.set(count),
    queued: (count) => queued.set(count),
    finished: (outcome, seconds) => duration.observe({ outcome }, seconds),
  };
};
