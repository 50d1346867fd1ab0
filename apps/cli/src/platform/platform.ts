import { appendFileSync, readFileSync, writeFileSync, mkdirSync, rmSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CUSTOM_RESOURCES, DEFAULT_SYSTEM_NAMESPACE, makeCrd } from "@sless/contracts";
import {
  createDevcluster,
  createProcessSupervisor,
  S3_ACCESS_KEY_ID,
  type Devcluster,
  type ProcessSupervisor,
} from "@sless/devcluster";
import { createKubeClient, customResourceDefinitions, namespaces } from "@sless/kube";
import type { Progress } from "../output/progress.js";
import { startComponent, type Component } from "./component.js";
import {
  BUCKET,
  COMPONENTS,
  LOCAL_AUDIENCE,
  makeEnvironment,
  type ComponentName,
  type PlatformAddresses,
} from "./environment.js";
import { findPort } from "./ports.js";
import { publishRuntimes } from "./runtimes.js";
import { openPlatformState } from "./state.js";

/** Who the developer on this machine is to the platform. */
export const LOCAL_SUBJECT = "developer";
const TOKEN_TTL_SEC = 24 * 3600;
const TOKEN_REFRESH_MS = 3600_000;
const READY_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 8_000;
const DEFAULT_PORTS = { api: 8470, gateway: 8480 };

export interface PlatformOptions {
  readonly dataDir: string;
  /** Ports to use; absent: those of the last start, then the defaults, else free ones. */
  readonly apiPort?: number;
  readonly gatewayPort?: number;
  /** PATH of everything that is started. */
  readonly path: string;
  readonly progress: Progress;
}

/** The whole platform, running on this machine. */
export interface Platform {
  readonly endpoint: string;
  readonly gatewayPort: number;
  readonly kubeconfig: string;
  /** Holds a bearer token for the API; kept fresh while the platform runs. */
  readonly tokenFile: string;
  readonly components: readonly Component[];
  stop(): Promise<void>;
}

const keyFile = (dataDir: string): string => join(dataDir, "internal-key");

/** The secret between API and gateway, made once. */
const internalKey = (dataDir: string): string => {
  try {
    return readFileSync(keyFile(dataDir), "utf8");
  } catch {
    const key = randomBytes(32).toString("base64");
    writeFileSync(keyFile(dataDir), key, { mode: 0o600 });
    return key;
  }
};

const emptyFolder = (folder: string): string => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
};

/** What `helm install` does on a real cluster: definitions and the release's namespace. */
const installResources = async (kubeconfigPath: string): Promise<void> => {
  const client = await createKubeClient({ kubeconfigPath });
  const options = { fieldManager: "sless-up", force: true };
  await client.apply(
    namespaces,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: DEFAULT_SYSTEM_NAMESPACE } },
    options,
  );
  for (const resource of CUSTOM_RESOURCES) {
    await client.apply(customResourceDefinitions, makeCrd(resource) as never, options);
  }
};

const choosePorts = async (options: PlatformOptions, last: { api: number; gateway: number } | undefined) => ({
  api: await findPort(options.apiPort ?? last?.api ?? DEFAULT_PORTS.api),
  gateway: await findPort(options.gatewayPort ?? last?.gateway ?? DEFAULT_PORTS.gateway),
});

const addressesOf = async (
  cluster: Devcluster,
  options: PlatformOptions,
  ports: { api: number; gateway: number },
): Promise<PlatformAddresses> => ({
  path: options.path,
  tmpDir: emptyFolder(join(options.dataDir, "tmp")),
  kubeconfig: cluster.kubeconfig,
  apiPort: ports.api,
  gatewayPort: ports.gateway,
  gatewayInternalPort: await findPort(0),
  healthPorts: { api: await findPort(0), controller: await findPort(0), gateway: await findPort(0) },
  registry: { url: cluster.registry.url, ...cluster.registry.credentials },
  s3: { endpoint: cluster.s3.url, region: "us-east-1", accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: cluster.secret },
  issuer: { issuer: cluster.issuer.url, jwksUrl: cluster.issuer.jwksUrl },
  internalKey: internalKey(options.dataDir),
  runtimes: await publishRuntimes(cluster.registry, options.path),
});

const mainOf = (name: ComponentName): string => fileURLToPath(import.meta.resolve(`@sless/${name}/main`));

const startComponents = (
  addresses: PlatformAddresses,
  logDir: string,
  supervisor: ProcessSupervisor,
  progress: Progress,
): Component[] =>
  COMPONENTS.map((name) =>
    startComponent(
      {
        name,
        main: mainOf(name),
        env: makeEnvironment[name](addresses),
        logFile: join(logDir, `${name}.log`),
        readyUrl: `http://127.0.0.1:${addresses.healthPorts[name]}/readyz`,
      },
      supervisor,
      progress.warn,
    ),
  );

/** Writes a token and keeps it fresh. */
const keepToken = (cluster: Devcluster, file: string): (() => void) => {
  const write = () => {
    writeFileSync(file, cluster.issuer.mintToken({ sub: LOCAL_SUBJECT, ttlSec: TOKEN_TTL_SEC }), { mode: 0o600 });
  };
  write();
  const timer = setInterval(write, TOKEN_REFRESH_MS);
  return () => clearInterval(timer);
};

const startCluster = (options: PlatformOptions, logDir: string): Promise<Devcluster> =>
  createDevcluster({
    dataDir: join(options.dataDir, "cluster"),
    buckets: [BUCKET],
    audience: LOCAL_AUDIENCE,
    onError: (part, error) => {
      appendFileSync(
        join(logDir, "cluster.log"),
        `${new Date().toISOString()} ${part}: ${String((error as Error).stack ?? error)}\n`,
      );
    },
  }).start();

/**
 * Starts cluster, registry, object store, token issuer, API, controller and gateway, and waits until all are ready.
 * What is started is ended again when any of it fails.
 */
export const startPlatform = async (options: PlatformOptions): Promise<Platform> => {
  const { dataDir, progress } = options;
  const state = openPlatformState(dataDir);
  const ports = await choosePorts(options, state.ports());
  const cluster = await progress.step("cluster, registry, object store", () => startCluster(options, state.logDir));
  const marker = `platform-${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`;
  const supervisor = createProcessSupervisor(join(dataDir, "platform"), marker);
  let components: Component[] = [];
  const stopToken = keepToken(cluster, state.tokenFile);

  const stop = async (): Promise<void> => {
    stopToken();
    await Promise.all(components.map((component) => component.stop(STOP_GRACE_MS)));
    await supervisor.close();
    await cluster.stop();
    state.setRunning(undefined);
  };

  try {
    await installResources(cluster.kubeconfig);
    const addresses = await progress.step("runtimes", () => addressesOf(cluster, options, ports));
    components = startComponents(addresses, state.logDir, supervisor, progress);
    await progress.step("API, controller, gateway", () =>
      Promise.all(components.map((component) => component.ready(READY_TIMEOUT_MS))),
    );
    const endpoint = `http://127.0.0.1:${ports.api}`;
    state.keepPorts(ports);
    state.setRunning({ pid: process.pid, endpoint, startedAt: new Date().toISOString() });
    return {
      endpoint,
      gatewayPort: ports.gateway,
      kubeconfig: cluster.kubeconfig,
      tokenFile: state.tokenFile,
      components,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
