import { createArtifactStore } from "@sless/artifacts";
import { type ApiConfig, LIMITS } from "@sless/contracts";
import { createLayerPool, DEFAULT_CODE_LIMITS } from "@sless/images";
import { createKubeClient } from "@sless/kube";
import { createHealthServer, createMetrics, type Logger } from "@sless/telemetry";
import { createApp } from "./app.js";
import { makeAuthenticator } from "./auth/make-authenticator.js";
import { createForwarder } from "./invoke/forward.js";
import { createClusterView } from "./platform/cluster-view.js";
import { createApiMetrics } from "./platform/metrics.js";
import { startServer } from "./server.js";

export interface RunningApi {
  /** Stops taking requests, ends waits and streams, lets the rest finish within SLESS_DRAIN_SECONDS. */
  stop(): Promise<void>;
}

/** A call may take a function's longest timeout, a wait in the gateway's queue and a start. */
const INVOKE_HEAD_TIMEOUT_MS = (LIMITS.timeoutSec.max + 60) * 1000;
const READY_CHECK_MS = 800;

const createStore = (config: ApiConfig) =>
  createArtifactStore({
    endpoint: config.SLESS_S3_ENDPOINT,
    region: config.SLESS_S3_REGION,
    bucket: config.SLESS_S3_BUCKET,
    accessKeyId: config.SLESS_S3_ACCESS_KEY_ID,
    secretAccessKey: config.SLESS_S3_SECRET_ACCESS_KEY,
    forcePathStyle: config.SLESS_S3_FORCE_PATH_STYLE,
  });

const createLayers = (config: ApiConfig) =>
  createLayerPool({
    workers: config.SLESS_UPLOAD_WORKERS,
    limits: {
      ...DEFAULT_CODE_LIMITS,
      uploadBytes: config.SLESS_MAX_UPLOAD_BYTES,
      unpackedBytes: config.SLESS_MAX_UNPACKED_BYTES,
      entries: config.SLESS_MAX_ENTRIES,
    },
  });

/**
 * Wires one replica of the API and starts it.
 * @throws ConfigError when tokens would go unchecked; the listen error
 */
export const runApi = async (config: ApiConfig, logger: Logger): Promise<RunningApi> => {
  const metrics = createMetrics({ component: "api" });
  const apiMetrics = createApiMetrics(metrics);
  const authenticator = makeAuthenticator(config, apiMetrics.jwksFetched);
  if (config.SLESS_AUTH_INSECURE) {
    apiMetrics.markInsecure();
    logger.warn({}, "TOKENS ARE NOT CHECKED: SLESS_AUTH_INSECURE is set; anybody can pose as anybody");
  }
  const kubeconfigPath = config.SLESS_KUBECONFIG;
  const kube = await createKubeClient(kubeconfigPath === undefined ? { inCluster: true } : { kubeconfigPath });
  const cluster = createClusterView(kube, logger);
  const artifacts = createStore(config);
  const layers = createLayers(config);
  const forwarder = createForwarder({
    gatewayUrl: config.SLESS_GATEWAY_INTERNAL_URL,
    headTimeoutMs: INVOKE_HEAD_TIMEOUT_MS,
  });
  const drain = new AbortController();
  const watching = new AbortController();
  const view = cluster.run(watching.signal);

  const app = createApp({
    config,
    runtimes: config.SLESS_RUNTIMES,
    kube,
    cluster,
    authenticator,
    artifacts,
    layers,
    forwarder,
    observe: apiMetrics.observeRequest,
    logger,
    drain: drain.signal,
  });
  const server = await startServer(app, config.SLESS_LISTEN);
  const health = await createHealthServer({
    address: config.SLESS_HEALTH_LISTEN,
    live: () => ({ ok: true }),
    // The API server alone decides: S3, gateway and issuer being away must not take the whole API out of service.
    ready: async () => {
      if (drain.signal.aborted) return { ok: false, reason: "stopping" };
      const ok = await kube.isReady({ timeoutMs: READY_CHECK_MS });
      return ok ? { ok } : { ok, reason: "the Kubernetes API server is not ready" };
    },
    metrics,
  });
  logger.info({ listen: server.address, health: health.address }, "listening");

  return {
    stop: async () => {
      drain.abort();
      await server.close(config.SLESS_DRAIN_SECONDS * 1000);
      watching.abort(new Error("stopping"));
      await Promise.allSettled([view, layers.close(), forwarder.close(), health.close()]);
      artifacts.close();
      kube.close();
    },
  };
};
