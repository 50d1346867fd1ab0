import type { Metrics } from "@sless/telemetry";
import type { Observation } from "../http/observe.js";

export interface ApiMetrics {
  readonly observeRequest: (observation: Observation) => void;
  readonly jwksFetched: (outcome: "ok" | "failed") => void;
  /** Says that tokens are not checked. */
  readonly markInsecure: () => void;
}

/** The API's own series. Every label is from a closed set (security 29, D37): routes are templates. */
export const createApiMetrics = (metrics: Metrics): ApiMetrics => {
  const requests = metrics.histogram({
    name: "sless_api_request_duration_seconds",
    help: "Time from a request's head to the end of its answer.",
    labelNames: ["route", "method", "status"],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300],
  });
  const jwks = metrics.counter({
    name: "sless_api_jwks_fetches_total",
    help: "Reads of the token issuer's keys.",
    labelNames: ["outcome"],
  });
  const insecure = metrics.gauge({
    name: "sless_api_auth_insecure",
    help: "1 when tokens are believed without a check (SLESS_AUTH_INSECURE).",
  });
  insecure.set(0);
  return {
    observeRequest: ({ route, method, status, seconds }) =>
      requests.observe({ route, method, status: String(status) }, seconds),
    jwksFetched: (outcome) => jwks.inc({ outcome }),
    markInsecure: () => insecure.set(1),
  };
};
