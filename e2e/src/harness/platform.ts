import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type SlessClient } from "@sless/client";
import { tenantHash, tenantNamespace, workloadNamespace } from "@sless/contracts";
import { createKubeClient, type KubeClient } from "@sless/kube";
import { eventually } from "./eventually.js";
import { processesOf } from "./processes.js";
import { startSless, type SlessOptions, type SlessProcess, type SlessResult } from "./sless.js";
import { createMint, type MintToken } from "./tokens.js";

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;

export type ComponentName = "api" | "controller" | "gateway";

/** One customer of the platform. */
export interface Tenant {
  readonly subject: string;
  readonly token: string;
  readonly namespace: string;
  readonly workloads: string;
  readonly client: SlessClient;
}

/** Addresses and secret of the services below the platform. */
export interface ClusterState {
  readonly secret: string;
  readonly urls: { readonly api: string; readonly registry: string; readonly s3: string; readonly issuer: string };
}

/** `sless up`, running as a process of its own, with what stories need to drive it from outside. */
export interface TestPlatform {
  readonly dataDir: string;
  readonly endpoint: string;
  readonly gatewayPort: number;
  readonly kubeconfig: string;
  readonly kube: KubeClient;
  readonly cluster: ClusterState;
  readonly mint: MintToken;
  readonly up: SlessProcess;
  /** The customer whom a subject stands for; each call of the same subject is the same customer. */
  tenant(subject: string): Tenant;
  /** Runs a `sless` command logged in to this platform. */
  sless(args: readonly string[], options?: SlessOptions): Promise<SlessResult>;
  startSless(args: readonly string[], options?: SlessOptions): SlessProcess;
  /** Process id of a component, which changes when it is started again. */
  pidOf(component: ComponentName): number | undefined;
  envOf(component: ComponentName): Readonly<Record<string, string>>;
  /** Ends it in order and removes its data. */
  stop(): Promise<void>;
}

export const makeTemporaryFolder = (): string => mkdtempSync(join(tmpdir(), "sless-e2e-"));

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8")) as T;

const untilUp = (up: SlessProcess): Promise<unknown> =>
  Promise.race([
    eventually("sless up says that the platform runs", START_TIMEOUT_MS, () =>
      up.stderr().includes("The platform runs."),
    ),
    up.exited.then(({ code, stderr }) => {
      throw new Error(`sless up ended with ${code}:\n${stderr}`);
    }),
  ]).catch((error: unknown) => {
    up.child.kill("SIGKILL");
    throw new Error(`${(error as Error).message}\n${up.stderr()}`);
  });

const findComponent = (dataDir: string, component: ComponentName) =>
  processesOf(dataDir).find(
    ({ command, env }) =>
      command.includes(`apps/${component}/dist/main.js`) && env["SLESS_POD_NAME"] === `local-${component}`,
  );

/**
 * Starts a platform on free ports in a folder of its own.
 * @param env over the environment that `sless up` gets
 */
export const startPlatform = async (
  dataDir = makeTemporaryFolder(),
  env: Readonly<Record<string, string>> = {},
): Promise<TestPlatform> => {
  const config = { XDG_CONFIG_HOME: join(dataDir, "config") };
  const login = (options: SlessOptions = {}): SlessOptions => ({ ...options, env: { ...config, ...options.env } });
  const up = startSless(["up", "--data-dir", dataDir, "--api-port", "0", "--port", "0"], login({ env }));
  await untilUp(up);

  const { endpoint } = readJson<{ endpoint: string }>(join(dataDir, "running.json"));
  const ports = readJson<{ gateway: number }>(join(dataDir, "ports.json"));
  const kubeconfig = join(dataDir, "cluster", "kubeconfig");
  const cluster = readJson<ClusterState>(join(dataDir, "cluster", "devcluster.json"));
  const kube = await createKubeClient({ kubeconfigPath: kubeconfig });
  const mint = createMint(dataDir, cluster.urls.issuer);
  const tenants = new Map<string, Tenant>();

  const makeTenant = (subject: string): Tenant => {
    const token = mint({ subject });
    const namespace = tenantNamespace(tenantHash({ issuer: cluster.urls.issuer, claim: subject, secondary: false }));
    const client = createClient({ endpoint, token: () => token });
    return { subject, token, namespace, workloads: workloadNamespace(namespace), client };
  };

  return {
    dataDir,
    endpoint,
    gatewayPort: ports.gateway,
    kubeconfig,
    kube,
    cluster,
    mint,
    up,
    tenant(subject) {
      const tenant = tenants.get(subject) ?? makeTenant(subject);
      tenants.set(subject, tenant);
      return tenant;
    },
    sless: (args, options) => startSless(args, login(options)).exited,
    startSless: (args, options) => startSless(args, login(options)),
    pidOf: (component) => findComponent(dataDir, component)?.pid,
    envOf: (component) => findComponent(dataDir, component)?.env ?? {},
    async stop() {
      await Promise.all([...tenants.values()].map(({ client }) => client.close()));
      kube.close();
      up.child.kill("SIGINT");
      const kill = setTimeout(() => up.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await up.exited;
      clearTimeout(kill);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
