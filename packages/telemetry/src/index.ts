export { createLogger, type Logger, type LoggerOptions } from "./logger.js";
export { maskCredentials } from "./mask-credentials.js";
export { createMetrics, type Metrics } from "./metrics.js";
export { createSeriesCap, OVERFLOW_LABEL, type SeriesCap } from "./series-cap.js";
export { createHealthServer, type Health, type HealthCheck, type HealthServer } from "./health-server.js";
export { createTallyHistogram, type TallyHistogram, type TallyHistogramOptions } from "./tally-histogram.js";
