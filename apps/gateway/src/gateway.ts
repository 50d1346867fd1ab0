import { isDeepStrictEqual } from "node:util";
import type { Address, GatewayConfig } from "@sless/contracts";
import { createInvoker } from "@sless/invoker";
import type { KubeClient } from "@sless/kube";
import { createHealthServer, type Health, type Logger, type Metrics } from "@sless/telemetry";
import { createCallerTokenReader } from "./http/caller-token.js";
import { createClientAddressReader } from "./http/client-address.js";
import { createInternalHandler } from "./http/internal-handler.js";
import { openListener, type Listener } from "./http/listener.js";
import { createPublicHandler } from "./http/public-handler.js";
import { createCallMeter } from "./metrics/call-meter.js";
import { startReporter } from "./report/reporter.js";
import { followResources, type Sources } from "./routing/follow-resources.js";
import { RoutingTable } from "./routing/routing-table.js";

export interface GatewayDeps {
  readonly config: GatewayConfig;
  readonly client: Pick<KubeClient, "list" | "watch" | "apply" | "delete">;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Gateway {
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  readonly healthAddress: Address;
  /** Resolves when routes are complete: from then on it is ready. */
  readonly synced: Promise<void>;
  /** Ends gracefully: no call under way is dropped within the configured time. */
  stop(): Promise<void>;
}

/** Connections beyond the calls that may be held: idle ones of clients that keep them alive. */
const CONNECTIONS_PER_CALL = 5;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const closeListeners = async (listeners: readonly Listener[], drainMs: number): Promise<void> => {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), drainMs);
  await Promise.all(listeners.map((listener) => listener.close(deadline.signal)));
  clearTimeout(timer);
};

/** Starts a gateway: it listens at once, and is ready when it knows all routes. */
export const startGateway = async ({ config, client, logger, metrics }: GatewayDeps): Promise<Gateway> => {
  const running = new AbortController();
  const table = new RoutingTable();
  const invoker = createInvoker({
    maxCalls: config.SLESS_MAX_CALLS,
    maxQueuedPerVersion: config.SLESS_MAX_QUEUED_PER_FUNCTION,
    queueSeconds: config.SLESS_QUEUE_SECONDS,
    maxBodyBytes: config.SLESS_MAX_BODY_BYTES,
  });
  const meter = createCallMeter(metrics, { held: () => invoker.held, hosts: () => table.hostCount });
  const sources = followResources({ client, logger, table, invoker });
  const reporter = startReporter({
    ...{ client, logger, loads: () => invoker.loads(), leaseSeconds: config.SLESS_LEASE_SECONDS },
    identity: { namespace: config.SLESS_SYSTEM_NAMESPACE, name: config.SLESS_POD_NAME },
  });
  acknowledge(sources, reporter);
  sources.functions.addHandler({ onDelete: (_old, key) => meter.forget(key) });

  let state: "starting" | "ready" | "draining" = "starting";
  const synced = Promise.all([sources.functions.synced, sources.triggers.synced, sources.slices.synced]).then(() => {
    state = state === "starting" ? "ready" : state;
  });
  synced.catch(() => undefined);
  const following = Promise.all(
    [sources.functions, sources.triggers, sources.slices].map((source) => source.run(running.signal)),
  );

  const deps = {
    invoker,
    meter,
    logger,
    table,
    readClientAddress: createClientAddressReader(config.SLESS_TRUSTED_PROXIES),
  };
  const readCallerToken = createCallerTokenReader(config.SLESS_INTERNAL_KEY);
  const maxConnections = config.SLESS_MAX_CALLS * CONNECTIONS_PER_CALL;
  const publicListener = await openListener({
    ...{ address: config.SLESS_PUBLIC_LISTEN, maxConnections, handle: createPublicHandler(deps) },
  });
  const internalListener = await openListener({
    ...{
      address: config.SLESS_INTERNAL_LISTEN,
      maxConnections,
      handle: createInternalHandler({ ...deps, readCallerToken }),
    },
  });
  const ready = (): Health => (state === "ready" ? { ok: true } : { ok: false, reason: state });
  const health = await createHealthServer({
    ...{ address: config.SLESS_HEALTH_LISTEN, live: () => ({ ok: true }), ready, metrics },
  });

  const stop = async (): Promise<void> => {
    state = "draining";
    const listeners = [publicListener, internalListener];
    for (const listener of listeners) listener.startDraining();
    await pause(config.SLESS_DRAIN_DELAY_SECONDS * 1000);
    await closeListeners(listeners, config.SLESS_DRAIN_SECONDS * 1000);
    await reporter.stop();
    running.abort();
    await following;
    invoker.close();
    await health.close();
  };

  return {
    publicAddress: publicListener.address,
    internalAddress: internalListener.address,
    healthAddress: health.address,
    synced,
    stop,
  };
};

/** What has been applied is acknowledged; a change of traffic at once. */
const acknowledge = ({ functions }: Sources, reporter: ReturnType<typeof startReporter>): void => {
  functions.onProgress((resourceVersion) => reporter.observed(resourceVersion));
  functions.addHandler({
    onAdd: () => reporter.trafficChanged(),
    onUpdate: (view, old) => isDeepStrictEqual(view.traffic, old.traffic) || reporter.trafficChanged(),
    onDelete: () => reporter.trafficChanged(),
  });
};
