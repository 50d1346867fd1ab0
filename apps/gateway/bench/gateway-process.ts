import { FUNCTIONS, GATEWAY_VARIABLES, LABELS, parseEnv, TRIGGERS, workloadNamespace } from "@sless/contracts";
import { endpointSlices } from "@sless/kube";
import { createFakeKubeClient } from "@sless/kube/testing";
import { createLogger, createMetrics } from "@sless/telemetry";
import { aFunction, aTrigger, TENANT_NAMESPACE } from "@sless/testing";
import { startGateway } from "../src/gateway.js";
import { announce, upstreamPort } from "./measured-process.js";
import { HOST, VERSION_UID } from "./route.js";

/** The whole gateway, with one route: only the API server behind it is a fake. */
const target = { version: 7, name: "hello-00007", uid: VERSION_UID, percent: 100, timeoutSec: 30, concurrency: 100 };
const client = createFakeKubeClient({ withoutStatusSubresource: ["GatewayReport"] });
client.seed(FUNCTIONS, aFunction({ status: { traffic: [target] } }));
client.seed(TRIGGERS, aTrigger({ status: { phase: "Active", observedGeneration: 1, host: HOST } }));
client.seed(endpointSlices, {
  metadata: {
    name: "hello",
    namespace: workloadNamespace(TENANT_NAMESPACE),
    labels: { [LABELS.versionUid]: VERSION_UID },
  },
  addressType: "IPv4",
  ports: [{ name: "call", port: upstreamPort() }],
  endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true }, targetRef: { kind: "Pod", uid: "pod" } }],
});

const LOOPBACK = "127.0.0.1:0";
const gateway = await startGateway({
  config: parseEnv(
    {
      SLESS_INTERNAL_KEY: "bench",
      SLESS_FUNCTIONS_DOMAIN: "fn.test",
      SLESS_PUBLIC_LISTEN: LOOPBACK,
      SLESS_INTERNAL_LISTEN: LOOPBACK,
      SLESS_HEALTH_LISTEN: LOOPBACK,
    },
    GATEWAY_VARIABLES,
  ),
  client,
  logger: createLogger({ component: "gateway", level: "info" }),
  metrics: createMetrics({ component: "gateway" }),
});
await gateway.synced;
announce(gateway.publicAddress.port);
