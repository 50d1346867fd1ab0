import {
  GATEWAY_VARIABLES,
  FUNCTIONS,
  LABELS,
  parseEnv,
  TRIGGERS,
  versionName,
  workloadNamespace,
  type ActiveTarget,
  type Function,
  type Trigger,
} from "@sless/contracts";
import { endpointSlices } from "@sless/kube";
import { createFakeKubeClient, createMemoryLogger, type FakeKubeClient } from "@sless/kube/testing";
import type { ScriptedRuntime } from "@sless/invoker/testing";
import { createMetrics, type Logger } from "@sless/telemetry";
import { aFunction, aTrigger, TENANT_NAMESPACE } from "@sless/testing";
import { startGateway, type Gateway } from "../gateway.js";

export const INTERNAL_KEY = "internal-key-of-the-tests-0123456789";
export const HOST = "hello-01234567.fn.test";

/** A running gateway over a fake API server, and verbs for what tests do to it. */
export interface GatewayFixture {
  readonly gateway: Gateway;
  readonly kube: FakeKubeClient;
  readonly publicUrl: string;
  readonly internalUrl: string;
  readonly publicPort: number;
  readonly logs: ReturnType<typeof createMemoryLogger>;
}

const LOOPBACK = "127.0.0.1:0";

/** Starts a gateway with nothing to route; `env` overrides its settings. */
export const startFixture = async (
  env: Record<string, string> = {},
  kube: FakeKubeClient = createFakeKubeClient({ withoutStatusSubresource: ["GatewayReport"] }),
): Promise<GatewayFixture> => {
  const config = parseEnv(
    {
      SLESS_INTERNAL_KEY: INTERNAL_KEY,
      SLESS_FUNCTIONS_DOMAIN: "fn.test",
      SLESS_PUBLIC_LISTEN: LOOPBACK,
      SLESS_INTERNAL_LISTEN: LOOPBACK,
      SLESS_HEALTH_LISTEN: LOOPBACK,
      SLESS_POD_NAME: "gateway-1",
      SLESS_DRAIN_DELAY_SECONDS: "0",
      SLESS_QUEUE_SECONDS: "2",
      ...env,
    },
    GATEWAY_VARIABLES,
  );
  const logs = createMemoryLogger();
  const gateway = await startGateway({
    ...{ config, client: kube, logger: logs as unknown as Logger },
    metrics: createMetrics({ component: "gateway" }),
  });
  await gateway.synced;
  return {
    ...{ gateway, kube, logs },
    publicUrl: `http://127.0.0.1:${gateway.publicAddress.port}`,
    internalUrl: `http://127.0.0.1:${gateway.internalAddress.port}`,
    publicPort: gateway.publicAddress.port,
  };
};

/** A target of all traffic at one version. */
export const targetOf = (version: number, uid: string, more: Partial<ActiveTarget> = {}): ActiveTarget => ({
  ...{ version, uid, name: versionName("hello", version), percent: 100, timeoutSec: 10, concurrency: 10 },
  ...more,
});

/** Puts a function there that routes to the targets given. */
export const seedFunction = (kube: FakeKubeClient, targets: ActiveTarget[], name = "hello"): Function =>
  kube.seed(FUNCTIONS, aFunction({ metadata: { name, namespace: TENANT_NAMESPACE }, status: { traffic: targets } }));

/** Puts an active trigger there. */
export const seedTrigger = (kube: FakeKubeClient, given: Parameters<typeof aTrigger>[0] = {}): Trigger =>
  kube.seed(TRIGGERS, aTrigger({ status: { phase: "Active", observedGeneration: 1, host: HOST }, ...given }));

/** Puts an EndpointSlice there that names the pods given. */
export const seedEndpoints = (
  kube: FakeKubeClient,
  versionUid: string,
  pods: readonly ScriptedRuntime[],
  name = "slice",
): void =>
  void kube.seed(endpointSlices, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: workloadNamespace(TENANT_NAMESPACE), labels: { [LABELS.versionUid]: versionUid } },
    addressType: "IPv4",
    ports: [{ name: "call", port: pods[0]?.endpoint.port ?? 8080 }],
    endpoints: pods.map(({ endpoint }) => ({
      addresses: [endpoint.address],
      conditions: { ready: true, terminating: false },
      targetRef: { kind: "Pod", uid: endpoint.podUid },
    })),
  });

/** Moves the traffic of `hello`, as the controller does. */
export const moveTraffic = async (kube: FakeKubeClient, targets: ActiveTarget[]): Promise<void> => {
  await kube.patchStatus(FUNCTIONS, { name: "hello", namespace: TENANT_NAMESPACE }, { traffic: targets });
};

/** Edits the spec of the trigger `hello`, as its owner does. */
export const editTrigger = async (kube: FakeKubeClient, spec: Record<string, unknown>): Promise<void> => {
  await kube.mergePatch(TRIGGERS, { name: "hello", namespace: TENANT_NAMESPACE }, { spec });
};
