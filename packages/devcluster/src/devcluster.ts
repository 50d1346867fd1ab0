import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createApiServer, type ApiServer } from "./apiserver/create-api-server.js";
import { startCoreControllers } from "./apiserver/controllers/start-controllers.js";
import { openClusterStore } from "./apiserver/open-cluster-store.js";
import { loadOrMakeCertificate } from "./apiserver/tls/certificate-file.js";
import { readState, writeState, type DevclusterState } from "./devcluster-state.js";
import { createIssuer, type Issuer } from "./issuer/issuer.js";
import { startControllers } from "./node/controllers/controllers.js";
import type { JobBackoff } from "./node/controllers/job.js";
import type { BackoffOptions } from "./node/kubelet/backoff.js";
import { createEventRecorder } from "./node/kubelet/events.js";
import { startKubelet, type Kubelet } from "./node/kubelet/kubelet.js";
import { createAdmittingStore } from "./node/quota/admitting-store.js";
import { createRegistry, type Registry } from "./registry/registry.js";
import { createS3, type S3Server } from "./s3/s3.js";
import type { ClusterStore } from "./store/types.js";

export interface DevclusterOptions {
  /** Everything of the installation lies in here; made when absent. */
  dataDir: string;
  /** Buckets of the S3; default `["sless"]`. */
  buckets?: readonly string[];
  /** `aud` of the issuer's tokens; default `sless`. */
  audience?: string;
  /** Name of its one node; default `localhost`. */
  nodeName?: string;
  containerBackoff?: BackoffOptions;
  jobBackoff?: JobBackoff;
  /** Hears of faults of the cluster's own parts; a log belongs here. */
  onError?: (part: string, error: unknown) => void;
}

/** A running installation. */
export interface Devcluster {
  readonly apiUrl: string;
  /** The installation's secret: bearer token of the API, password of the registry, secret key of the S3. */
  readonly secret: string;
  readonly kubeconfig: string;
  readonly store: ClusterStore;
  readonly registry: Registry;
  readonly s3: S3Server;
  readonly issuer: Issuer;
  readonly kubelet: Kubelet;
  /** Ends pods, then services. Safe to call twice. */
  stop(): Promise<void>;
}

export const REGISTRY_USER = "sless";
export const S3_ACCESS_KEY_ID = "sless";

/** Runs the closers of what has been started, last first, each even if one fails. */
const createCloser = () => {
  const closers: (() => void | Promise<void>)[] = [];
  return {
    add: (close: () => void | Promise<void>) => void closers.push(close),
    async closeAll(): Promise<void> {
      const errors: unknown[] = [];
      for (const close of closers.splice(0).reverse()) {
        try {
          await close();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, "devcluster did not stop cleanly");
    },
  };
};

/** Takes the port of the last start, or another when somebody else has it now. */
const withLastPort = async <T>(port: number | undefined, start: (port: number) => Promise<T>): Promise<T> => {
  try {
    return await start(port ?? 0);
  } catch (error) {
    if (port === undefined || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return start(0);
  }
};

const portOf = (url: string): number => Number(new URL(url).port);

const startServices = async (
  options: DevclusterOptions,
  state: DevclusterState,
  closer: ReturnType<typeof createCloser>,
) => {
  const { dataDir, onError } = options;
  const { ports, secret } = state;
  const report = (part: string) => (error: unknown) => onError?.(part, error);
  const registry = await withLastPort(ports.registry, (port) =>
    createRegistry({
      dataDir: join(dataDir, "registry"),
      credentials: { username: REGISTRY_USER, password: secret },
      port,
      onError: report("registry"),
    }),
  );
  closer.add(() => registry.close());
  const s3 = await withLastPort(ports.s3, (port) =>
    createS3({
      dataDir: join(dataDir, "s3"),
      credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: secret },
      buckets: options.buckets ?? ["sless"],
      port,
      onError: report("s3"),
    }),
  );
  closer.add(() => s3.close());
  const issuer = await withLastPort(ports.issuer, (port) =>
    createIssuer({ dataDir: join(dataDir, "issuer"), audience: options.audience ?? "sless", port }),
  );
  closer.add(() => issuer.close());
  return { registry, s3, issuer };
};

const start = async (options: DevclusterOptions, closer: ReturnType<typeof createCloser>): Promise<Devcluster> => {
  const { dataDir, nodeName = "localhost", onError } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const stateFile = join(dataDir, "devcluster.json");
  const state = readState(stateFile);
  // Opened first: its lock keeps a second devcluster out of everything else in the folder.
  const store = createAdmittingStore(openClusterStore({ directory: join(dataDir, "store") }));
  closer.add(() => store.close());
  const { registry, s3, issuer } = await startServices(options, state, closer);

  closer.add(startCoreControllers(store));
  const kubelet = await startKubelet({
    store,
    dataDir,
    nodeName,
    registryLogins: { [registry.host]: registry.credentials },
    onError: (error) => onError?.("kubelet", error),
    ...(options.containerBackoff ? { backoff: options.containerBackoff } : {}),
  });
  closer.add(() => kubelet.stop());
  const events = createEventRecorder(store, "controller-manager");
  const reportKey = (controller: string, key: string, error: unknown) => onError?.(`${controller} ${key}`, error);
  const controllers = startControllers({ store, events, nodeName, onError: reportKey }, options.jobBackoff);
  closer.add(() => controllers.close());

  const api: ApiServer = createApiServer({
    store,
    token: state.secret,
    certificate: loadOrMakeCertificate(join(dataDir, "tls")),
    podLogs: (request) => kubelet.podLogs(request),
    onError: (error) => onError?.("api server", error),
  });
  const apiUrl = await withLastPort(state.ports.api, (port) => api.listen({ port }));
  closer.add(() => api.close());
  const kubeconfig = join(dataDir, "kubeconfig");
  api.writeKubeconfig(kubeconfig);

  const urls = { api: apiUrl, registry: registry.url, s3: s3.url, issuer: issuer.url };
  const ports = { api: portOf(apiUrl), registry: portOf(registry.url), s3: portOf(s3.url), issuer: portOf(issuer.url) };
  writeState(stateFile, { secret: state.secret, ports, urls, pid: process.pid });
  closer.add(() => writeState(stateFile, { secret: state.secret, ports }));

  const stopOnce = createOnce(() => closer.closeAll());
  return { apiUrl, secret: state.secret, kubeconfig, store, registry, s3, issuer, kubelet, stop: stopOnce };
};

const createOnce = (run: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
};

/**
 * A small Kubernetes on this machine: API server, workload controllers, a node that runs pods as processes, an OCI
 * registry, an S3 and a token issuer, on loopback, each behind the installation's secret. For development and tests:
 * pods are not isolated from the machine or from each other, and NetworkPolicies are not enforced.
 */
export const createDevcluster = (options: DevclusterOptions) => ({
  /** @throws when another process runs in the same folder, and when any part cannot start; nothing is left running */
  async start(): Promise<Devcluster> {
    const closer = createCloser();
    try {
      return await start(options, closer);
    } catch (error) {
      await closer.closeAll();
      throw error;
    }
  },
});
