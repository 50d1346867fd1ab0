import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createArtifactStore, type ArtifactStore } from "@sless/artifacts";
import {
  artifactKey,
  CONTROLLER_VARIABLES,
  CUSTOM_RESOURCES,
  FUNCTIONS,
  GATEWAY_REPORTS,
  LABELS,
  makeCrd,
  parseEnv,
  TENANTS,
  type Function,
} from "@sless/contracts";
import { createDevcluster, makeBaseImage, S3_ACCESS_KEY_ID, type Devcluster } from "@sless/devcluster";
import {
  createKubeClient,
  customResourceDefinitions,
  leases,
  microTime,
  namespaces,
  type CustomResourceDefinition,
  type KubeClient,
} from "@sless/kube";
import { eventually } from "@sless/kube/testing";
import { createLogger, createMetrics } from "@sless/telemetry";
import { TENANT_HASH, TENANT_NAMESPACE } from "@sless/testing";
import { startManager, type Manager } from "../manager.js";
import { makeCodeLayer } from "./code-layer.js";

const RUNTIME = join(dirname(fileURLToPath(import.meta.url)), "../../../../runtimes/nodejs20/dist");

/** The real controller over the embedded cluster: processes as pods, a registry and an S3 on loopback. */
export interface Platform {
  readonly cluster: Devcluster;
  readonly client: KubeClient;
  readonly artifacts: ArtifactStore;
  /** Starts a replica and waits for the tenant's namespaces. */
  startController(): Promise<Manager>;
  /** Stores code of a function and points the Function at it. */
  deploy(fn: Function, files: Readonly<Record<string, string>>): Promise<Function>;
  fn(name: string): Promise<Function>;
  /** Plays a gateway that has applied Functions up to a resource version. */
  report(gateway: string, observedResourceVersion: string): Promise<void>;
  until(description: string, condition: () => Promise<boolean>): Promise<void>;
  /** Resolves when no write has reached the API server for a while; fails when they do not end. */
  quiet(): Promise<void>;
  stop(): Promise<void>;
}

const SYSTEM = "sless";
/** Shorter than the time between two renewals of a lease, which are writes too. */
const QUIET_MS = 400;

const installCrds = async (client: KubeClient): Promise<void> => {
  for (const resource of CUSTOM_RESOURCES) {
    await client.create(customResourceDefinitions, makeCrd(resource) as unknown as CustomResourceDefinition);
  }
  await client.create(namespaces, { metadata: { name: SYSTEM } });
};

const requireRuntime = (): void => {
  if (existsSync(join(RUNTIME, "supervisor.js"))) return;
  throw new Error(`${RUNTIME} is missing: run "pnpm build" before these tests`);
};

/** Starts an empty platform with one tenant; nothing of it outlives `stop`. */
export const startPlatform = async (): Promise<Platform> => {
  requireRuntime();
  const dataDir = await mkdtemp(join(tmpdir(), "sless-controller-"));
  const cluster = await createDevcluster({ dataDir }).start();
  const client = await createKubeClient({ server: cluster.apiUrl, token: cluster.secret });
  const repository = "sless/runtimes/nodejs20";
  const { registry, s3 } = cluster;
  const digest = await makeBaseImage({
    registry,
    repository,
    files: { "/opt/sless/runtime": RUNTIME },
    entrypoint: ["node", "/opt/sless/runtime/supervisor.js"],
  });
  const login = { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: cluster.secret };
  const artifacts = createArtifactStore({ endpoint: s3.url, region: "us-east-1", bucket: "sless", ...login });
  await installCrds(client);
  await client.create(TENANTS, {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Tenant",
    metadata: { name: TENANT_NAMESPACE },
    spec: { owner: { issuer: "https://auth.test", subject: "alice" }, hash: TENANT_HASH, hosts: [] },
  });
  const runtime = { name: "nodejs20", family: "nodejs", image: `${registry.host}/${repository}@${digest}` };
  const env = {
    SLESS_RUNTIMES: JSON.stringify([runtime]),
    SLESS_FUNCTIONS_DOMAIN: "fn.test",
    SLESS_S3_ENDPOINT: s3.url,
    SLESS_S3_BUCKET: "sless",
    SLESS_S3_ACCESS_KEY_ID: S3_ACCESS_KEY_ID,
    SLESS_S3_SECRET_ACCESS_KEY: cluster.secret,
    SLESS_REGISTRY_URL: registry.url,
    SLESS_REGISTRY_USERNAME: registry.credentials.username,
    SLESS_REGISTRY_PASSWORD: registry.credentials.password,
    SLESS_HEALTH_LISTEN: "127.0.0.1:0",
    SLESS_START_SECONDS: "20",
  };
  const managers: Manager[] = [];
  const lines: string[] = [];
  const destination = { write: (line: string): void => void lines.push(line) };

  const fn = (name: string): Promise<Function> => client.get(FUNCTIONS, { name, namespace: TENANT_NAMESPACE });

  return {
    cluster,
    client,
    artifacts,
    startController: async () => {
      const manager = await startManager({
        config: parseEnv(env, CONTROLLER_VARIABLES),
        client,
        logger: createLogger({ component: "controller", level: "info", destination }),
        metrics: createMetrics({ component: "controller" }),
      });
      managers.push(manager);
      await eventually(
        "the tenant's namespaces stand",
        async () => (await client.get(TENANTS, { name: TENANT_NAMESPACE })).status?.phase === "Active",
        15_000,
      );
      return manager;
    },
    deploy: async ({ metadata }, files) => {
      const layer = makeCodeLayer(files);
      const { namespace = "", uid = "" } = metadata;
      const s3Key = artifactKey(namespace, uid, layer.digest);
      await artifacts.put(s3Key, { bytes: layer.bytes });
      return client.mergePatch(FUNCTIONS, { name: metadata.name, namespace }, { spec: { s3Key } });
    },
    fn,
    report: async (gateway, observedResourceVersion) => {
      const key = { name: gateway, namespace: SYSTEM };
      const renewTime = microTime(Date.now());
      const lease = {
        metadata: { ...key, labels: { [LABELS.component]: "gateway" } },
        spec: { holderIdentity: gateway, leaseDurationSeconds: 15, renewTime },
      };
      await client.apply(leases, lease, { fieldManager: "gateway", force: true });
      const report = {
        apiVersion: "sless.kube5s.ru/v1alpha1",
        kind: "GatewayReport" as const,
        metadata: key,
        status: { observedResourceVersion, renewTime, versions: [] },
      };
      await client.apply(GATEWAY_REPORTS, report, { fieldManager: "gateway", force: true });
    },
    until: async (description, condition) => {
      try {
        await eventually(description, condition, 15_000);
      } catch (cause) {
        const functions = await client.list(FUNCTIONS);
        const state = JSON.stringify(
          functions.items.map(({ status }) => status),
          undefined,
          1,
        );
        throw new Error(`${description}\n${state}\n${lines.slice(-15).join("")}`, { cause });
      }
    },
    quiet: async () => {
      const version = async (): Promise<string> => (await client.list(FUNCTIONS)).resourceVersion;
      let seen = "";
      await eventually(
        "the API server is idle",
        async () => {
          const before = seen;
          seen = await version();
          await delay(QUIET_MS);
          return before === seen;
        },
        15_000,
      );
    },
    stop: async () => {
      for (const manager of managers) await manager.stop().catch(() => undefined);
      client.close();
      artifacts.close();
      await cluster.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
