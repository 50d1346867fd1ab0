import { setMaxListeners } from "node:events";
import type { ArtifactStore } from "@sless/artifacts";
import { FIELD_MANAGERS, type RuntimeEntry, type Trigger } from "@sless/contracts";
import {
  createApplier,
  createEventRecorder,
  systemClock,
  type Clock,
  type Controller,
  type KubeClient,
  type Logger,
  type WorkQueueMetrics,
} from "@sless/kube";
import { createBuildRunner, type BuildMetrics } from "./builds/build-runner.js";
import type { ImageBuilder } from "./builds/image-builder.js";
import { createCaches } from "./caches.js";
import { createFunctionController } from "./function/controller.js";
import { createVersionPace } from "./function/version-pace.js";
import { createVersionController } from "./function-version/controller.js";
import { createTrafficAcknowledgements } from "./gateways/traffic-acknowledgement.js";
import { createStatusWriter } from "./status/write-status.js";
import { createTenantController } from "./tenant/controller.js";
import { createTriggerController } from "./trigger/controller.js";
import { hostOf } from "./trigger/deps.js";
import type { HostRules } from "./trigger/host-policy.js";

/** Everything that the controllers are built from. */
export interface ControllersOptions {
  /** Its writes are sent only while this process leads; reads pass always. */
  readonly client: KubeClient;
  readonly images: ImageBuilder;
  readonly artifacts: Pick<ArtifactStore, "list" | "deleteMany">;
  readonly runtimes: readonly RuntimeEntry[];
  readonly hosts: HostRules;
  /** Scheme and port of functions' URLs. */
  readonly url: { readonly scheme: string; readonly port: string | undefined };
  readonly systemNamespace: string;
  readonly installation: string;
  /** How long a start may take before it counts as failed. */
  readonly startSeconds: number;
  readonly maxBodyBytes: number;
  /** Objects of one kind reconciled at once. */
  readonly workers: number;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
  readonly queueMetrics?: ((controller: string) => WorkQueueMetrics) | undefined;
  readonly buildMetrics?: BuildMetrics | undefined;
}

export interface Controllers {
  /** Mirrors the API server until the signal aborts. A standby does so too, so that it takes over at once. */
  follow(signal: AbortSignal): Promise<void>;
  /** Resolves when the mirrors are complete. */
  readonly synced: Promise<unknown>;
  /** Reconciles until the signal aborts; then ends builds and writes what events are left. Call it once, as the leader. */
  lead(signal: AbortSignal): Promise<void>;
}

/** Builds in this process at once, and of them of one tenant (security 9). */
const BUILDS = { concurrency: 4, perTenant: 2 };

/** Wires caches, builds and controllers. Nothing happens before `follow` and `lead`. */
export const createControllers = (options: ControllersOptions): Controllers => {
  const { client, images, artifacts, runtimes, hosts, url, logger, queueMetrics } = options;
  const { systemNamespace, installation, startSeconds, maxBodyBytes, workers: concurrency } = options;
  const clock = options.clock ?? systemClock;
  const findHost = (trigger: Trigger): string | undefined => hostOf(trigger, hosts);
  const caches = createCaches({ client, logger, systemNamespace, hostOf: findHost });
  const events = createEventRecorder({ client, component: FIELD_MANAGERS.controller, logger, clock });
  const applier = createApplier({ client, fieldManager: FIELD_MANAGERS.controller });
  const writeStatus = createStatusWriter({ client, events });
  const acknowledgements = createTrafficAcknowledgements();
  const shared = { caches, client, writeStatus, installation, clock };
  const wiring = (name: string) => ({ caches, logger, concurrency, metrics: queueMetrics?.(name) });

  const builds = createBuildRunner({
    ...BUILDS,
    clock,
    metrics: options.buildMetrics,
    onSettled: (key) => versions.enqueue(key),
  });
  const tenants = createTenantController({ deps: { ...shared, applier }, ...wiring("tenant") });
  const functions = createFunctionController({
    deps: { ...shared, acknowledgements, pace: createVersionPace(clock), artifacts, runtimes },
    ...wiring("function"),
  });
  const versions: Controller = createVersionController({
    deps: { ...shared, applier, builds, images, startSeconds, maxBodyBytes },
    ...wiring("function-version"),
  });
  const triggers = createTriggerController({
    deps: { ...shared, rules: hosts, url, systemNamespace },
    ...wiring("trigger"),
  });

  return {
    follow: (signal) => {
      // Each watch, timer and worker listens on the one signal, here and in lead: many listeners are no leak.
      setMaxListeners(0, signal);
      return caches.run(signal);
    },
    synced: caches.synced,
    lead: async (signal) => {
      setMaxListeners(0, signal);
      try {
        await Promise.all([tenants, functions, versions, triggers].map((controller) => controller.run(signal)));
      } finally {
        await builds.close();
        await events.flush();
      }
    },
  };
};
