import { CUSTOM_RESOURCES, makeCrd, TENANTS, workloadNamespace, type Tenant } from "@sless/contracts";
import { createApiServer, openClusterStore, type PodLogRequest } from "@sless/devcluster";
import {
  createInformer,
  createKubeClient,
  customResourceDefinitions,
  namespaces,
  type CustomResourceDefinition,
  type KubeClient,
} from "@sless/kube";
import { randomUUID } from "node:crypto";

/** A real API server, in this process, with sless's own kinds. */
export interface TestCluster {
  /** As the tests themselves, beside whatever the API does. */
  readonly kube: KubeClient;
  connect(): Promise<KubeClient>;
  /** What `pods/log` answers; set by tests. */
  podLogs: (request: PodLogRequest) => AsyncIterable<string>;
  /** False: new tenants get no namespaces, as when the controller is away. */
  servesTenants: boolean;
  close(): Promise<void>;
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * jest's structuredClone comes from outside its sandbox, and so do the arrays that it makes: the CEL library, which goes
 * by constructors, then takes them for something else. Objects of an API are JSON, so JSON copies them as well.
 */
const copyInSandbox = (): void => {
  globalThis.structuredClone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
};

const ignoreExisting = async (make: Promise<unknown>): Promise<void> => {
  try {
    await make;
  } catch (error) {
    if ((error as { reason?: string }).reason !== "AlreadyExists") throw error;
  }
};

/** What the controller does for a new tenant, as far as the API can tell. */
const serveTenant = async (kube: KubeClient, tenant: Tenant): Promise<void> => {
  const { name, uid } = tenant.metadata;
  for (const namespace of [name, workloadNamespace(name)]) {
    await ignoreExisting(kube.create(namespaces, { metadata: { name: namespace } }));
  }
  const condition = { status: "True", reason: "Created", message: "", lastTransitionTime: new Date().toISOString() };
  await kube.patchStatus(
    TENANTS,
    { name },
    { phase: "Active", conditions: ["NamespacesReady", "Ready"].map((type) => ({ type, ...condition })) },
    { uid },
  );
};

export const startTestCluster = async (): Promise<TestCluster> => {
  copyInSandbox();
  const token = randomUUID();
  const store = openClusterStore();
  const stop = new AbortController();
  async function* none(): AsyncGenerator<string> {
    // No pod has printed anything.
  }
  const server = createApiServer({ store, token, podLogs: (request) => cluster.podLogs(request) });
  const url = await server.listen();
  const connect = (): Promise<KubeClient> => createKubeClient({ server: url, token });
  const kube = await connect();
  for (const resource of CUSTOM_RESOURCES) {
    await kube.create(customResourceDefinitions, makeCrd(resource) as unknown as CustomResourceDefinition);
  }
  const cluster: TestCluster = {
    kube,
    connect,
    podLogs: none,
    servesTenants: true,
    close: async () => {
      stop.abort(new Error("the test is over"));
      kube.close();
      await server.close();
      await store.close();
    },
  };
  const tenants = createInformer({ client: kube, resource: TENANTS, logger: quiet });
  tenants.addHandler({
    onAdd: (tenant) => {
      if (cluster.servesTenants) serveTenant(kube, tenant).catch(() => undefined);
    },
  });
  void tenants.run(stop.signal);
  await tenants.synced;
  return cluster;
};
