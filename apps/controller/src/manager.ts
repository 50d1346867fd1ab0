import { randomUUID } from "node:crypto";
import { createArtifactStore, type ArtifactStore } from "@sless/artifacts";
import { canonicalHost, LABELS, type ControllerConfig } from "@sless/contracts";
import { createLayersStrategy, createRegistryClient, type RegistryClient } from "@sless/images";
import { createGuardedClient, createLeaderElector, type KubeClient } from "@sless/kube";
import { createHealthServer, type Health, type HealthServer, type Logger, type Metrics } from "@sless/telemetry";
import { createControllers, type Controllers } from "./app.js";
import { createImageBuilder, type ImageBuilder } from "./builds/image-builder.js";
import { createBuildMetrics, createQueueMetrics } from "./metrics.js";

export interface ManagerDeps {
  readonly config: ControllerConfig;
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A controller manager: one replica, leading or standing by. */
export interface Manager {
  readonly healthAddress: HealthServer["address"];
  /** Resolves when it stood down in good order; rejects when it lost its lease or could not start: exit then. */
  readonly finished: Promise<void>;
  /** Ends builds and work in flight and releases the lease, so that the next replica takes over at once. */
  stop(): Promise<void>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

const connectStore = (config: ControllerConfig): ArtifactStore =>
  createArtifactStore({
    endpoint: config.SLESS_S3_ENDPOINT,
    region: config.SLESS_S3_REGION,
    bucket: config.SLESS_S3_BUCKET,
    accessKeyId: config.SLESS_S3_ACCESS_KEY_ID,
    secretAccessKey: config.SLESS_S3_SECRET_ACCESS_KEY,
    forcePathStyle: config.SLESS_S3_FORCE_PATH_STYLE,
  });

const connectRegistry = (config: ControllerConfig): RegistryClient => {
  const { SLESS_REGISTRY_URL: url, SLESS_REGISTRY_USERNAME: username, SLESS_REGISTRY_PASSWORD: password } = config;
  const credentials = username !== undefined && password !== undefined ? { username, password } : undefined;
  return createRegistryClient({ url, ...(credentials && { credentials }) });
};

const makeImageBuilder = (
  config: ControllerConfig,
  registry: RegistryClient,
  artifacts: ArtifactStore,
): ImageBuilder => {
  const pullHost = config.SLESS_REGISTRY_PULL_HOST ?? registry.host;
  return createImageBuilder({
    // Nodes and controller may know one registry by two names; base images carry the nodes'.
    strategy: createLayersStrategy({
      target: registry,
      sourceFor: (host) => (host === pullHost ? registry : undefined),
    }),
    registry,
    artifacts,
    prefix: config.SLESS_REGISTRY_PREFIX,
    pullHost,
    platform: { os: "linux", architecture: ARCHITECTURES[process.arch] ?? process.arch },
  });
};

const parseDomain = (domain: string): string => {
  const canonical = canonicalHost(domain);
  if (canonical !== undefined) return canonical;
  throw new Error(`SLESS_FUNCTIONS_DOMAIN: ${JSON.stringify(domain)} is no DNS name. Example: fn.example.com`);
};

/** Leader election as client-go has it: renewing ends at two thirds of the lease, with five tries until then. */
const makeElector = ({ config, client, logger }: ManagerDeps) => {
  const leaseDurationMs = config.SLESS_LEASE_SECONDS * 1000;
  return createLeaderElector({
    client,
    namespace: config.SLESS_SYSTEM_NAMESPACE,
    name: "sless-controller",
    identity: `${config.SLESS_POD_NAME}-${randomUUID()}`,
    labels: { [LABELS.managedBy]: config.SLESS_INSTALLATION_ID, [LABELS.component]: "controller" },
    leaseDurationMs,
    renewDeadlineMs: (leaseDurationMs * 2) / 3,
    retryPeriodMs: (leaseDurationMs * 2) / 15,
    logger,
  });
};

/** A standby is ready too: it mirrors the API server and could lead at once. */
const trackSync = (controllers: Controllers): (() => Health) => {
  let synced = false;
  void controllers.synced.then(
    () => {
      synced = true;
    },
    () => undefined, // Stopped before the first list: readiness simply stays false.
  );
  return () => (synced ? { ok: true } : { ok: false, reason: "the caches are not complete yet" });
};

/** Starts a controller manager: serves health at once, mirrors the API server, and leads when the lease is its own. */
export const startManager = async (deps: ManagerDeps): Promise<Manager> => {
  const { config, logger, metrics } = deps;
  const elector = makeElector(deps);
  const artifacts = connectStore(config);
  const registry = connectRegistry(config);
  const controllers = createControllers({
    client: createGuardedClient(deps.client, elector),
    images: makeImageBuilder(config, registry, artifacts),
    artifacts,
    runtimes: config.SLESS_RUNTIMES,
    hosts: {
      functionsDomain: parseDomain(config.SLESS_FUNCTIONS_DOMAIN),
      reservedHosts: config.SLESS_RESERVED_HOSTS,
    },
    url: { scheme: config.SLESS_FUNCTIONS_URL_SCHEME, port: config.SLESS_FUNCTIONS_URL_PORT },
    systemNamespace: config.SLESS_SYSTEM_NAMESPACE,
    installation: config.SLESS_INSTALLATION_ID,
    startSeconds: config.SLESS_START_SECONDS,
    maxBodyBytes: config.SLESS_MAX_BODY_BYTES,
    workers: config.SLESS_WORKERS,
    logger,
    queueMetrics: createQueueMetrics(metrics),
    buildMetrics: createBuildMetrics(metrics),
  });
  const health = await createHealthServer({
    address: config.SLESS_HEALTH_LISTEN,
    live: () => ({ ok: true }),
    ready: trackSync(controllers),
    metrics,
  });

  const leading = new AbortController();
  const following = new AbortController();
  const run = async (): Promise<void> => {
    const follow = controllers.follow(following.signal);
    try {
      await elector.run(leading.signal, (signal) => controllers.lead(signal));
    } finally {
      following.abort(new Error("the manager stops"));
      await follow;
      await health.close();
      await registry.close();
      artifacts.close();
    }
  };
  const finished = run();
  // Whoever awaits it hears of the failure; until then it must not count as unhandled.
  finished.catch(() => undefined);
  return {
    healthAddress: health.address,
    finished,
    stop: async () => {
      leading.abort(new Error("the manager was told to stop"));
      await finished;
    },
  };
};
