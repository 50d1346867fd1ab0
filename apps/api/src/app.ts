import { FUNCTIONS, TRIGGERS, type ApiConfig, type Function, type RuntimeEntry, type Trigger } from "@sless/contracts";
import type { ArtifactStore } from "@sless/artifacts";
import type { LayerPool } from "@sless/images";
import type { KubeClient } from "@sless/kube";
import express, { type Express } from "express";
import type { Authenticator } from "./auth/authenticator.js";
import { NotFound } from "./errors.js";
import { toFunctionBody } from "./functions/dto.js";
import { makeFunctionRoutes } from "./functions/router.js";
import { createFunctions } from "./functions/service.js";
import { createVersions } from "./functions/versions.js";
import { handleErrors } from "./http/error-handler.js";
import type { Route } from "./http/exchange.js";
import { mountRoutes } from "./http/mount-routes.js";
import { observeRequests, type Observe } from "./http/observe.js";
import { assignRequestId } from "./http/request-id.js";
import { setSecurityHeaders } from "./http/security-headers.js";
import { createShares, type Shares } from "./http/shares.js";
import type { Forwarder } from "./invoke/forward.js";
import { forwardInvokes } from "./invoke/router.js";
import { makeLogRoutes } from "./logs/router.js";
import { createLogs } from "./logs/service.js";
import { makePages } from "./pages/router.js";
import type { ClusterView } from "./platform/cluster-view.js";
import type { Logger } from "./platform/logger.js";
import { createItems, type Items } from "./resources/items.js";
import { makeRuntimeRoutes } from "./runtimes.js";
import { makeTenantRoutes } from "./tenants/router.js";
import { createTenants, type Tenants } from "./tenants/service.js";
import { toTriggerBody } from "./triggers/dto.js";
import { makeTriggerRoutes } from "./triggers/router.js";
import { createTriggers } from "./triggers/service.js";
import { makeUploadRoutes } from "./uploads/router.js";
import { createUploads } from "./uploads/service.js";

/** Settings that the app itself reads; all others are spent on its dependencies. */
export type AppConfig = Pick<
  ApiConfig,
  | "SLESS_FUNCTIONS_DOMAIN"
  | "SLESS_INTERNAL_KEY"
  | "SLESS_MAX_UPLOAD_BYTES"
  | "SLESS_MAX_BODY_BYTES"
  | "SLESS_MAX_UPLOADS"
  | "SLESS_MAX_WAITS"
>;

export interface AppDeps {
  readonly config: AppConfig;
  readonly runtimes: readonly RuntimeEntry[];
  readonly kube: KubeClient;
  readonly cluster: ClusterView;
  readonly authenticator: Authenticator;
  readonly artifacts: ArtifactStore;
  readonly layers: LayerPool;
  readonly forwarder: Forwarder;
  readonly observe: Observe;
  readonly logger: Logger;
  /** Aborts when the replica drains: waits and streams end. */
  readonly drain: AbortSignal;
}

/** A new tenant's namespaces take a second or two; a first write waits for them so long. */
const TENANT_READY_MS = 20_000;

interface Parts {
  readonly tenants: Tenants;
  readonly functionItems: Items<Function>;
  readonly triggerItems: Items<Trigger>;
  readonly waits: Shares;
}

const createParts = ({ kube, cluster, config }: AppDeps): Parts => ({
  tenants: createTenants({
    kube,
    cached: cluster.tenant,
    signals: cluster.tenantSignals,
    readyTimeoutMs: TENANT_READY_MS,
  }),
  functionItems: createItems(kube, FUNCTIONS),
  triggerItems: createItems(kube, TRIGGERS),
  waits: createShares({ total: config.SLESS_MAX_WAITS, what: "waits and streams", retryAfterSec: 5 }),
});

const makeAllFunctionRoutes = (deps: AppDeps, { tenants: access, functionItems: items, waits }: Parts): Route[] => {
  const { kube, artifacts, layers, runtimes, cluster, config, logger } = deps;
  const functions = createFunctions({ items, artifacts, runtimes });
  const reading = { items, signals: cluster.functionSignals, waits, toBody: toFunctionBody };
  const maxBytes = config.SLESS_MAX_UPLOAD_BYTES;
  return [
    ...makeFunctionRoutes({ access, functions, versions: createVersions(items, kube), reading }),
    ...makeUploadRoutes({
      access,
      uploads: createUploads({ items, functions, artifacts, layers, runtimes, maxBytes }),
      shares: createShares({ total: config.SLESS_MAX_UPLOADS, what: "uploads", retryAfterSec: 10 }),
    }),
    ...makeLogRoutes({ access, items, logs: createLogs(kube, logger), streams: waits }),
  ];
};

const makeRoutes = (deps: AppDeps, parts: Parts): Route[] => {
  const { tenants: access, triggerItems, waits } = parts;
  const { cluster, runtimes, config } = deps;
  const reading = { items: triggerItems, signals: cluster.triggerSignals, waits, toBody: toTriggerBody };
  return [
    ...makeTenantRoutes(access, config.SLESS_FUNCTIONS_DOMAIN),
    ...makeRuntimeRoutes(runtimes),
    ...makeAllFunctionRoutes(deps, parts),
    ...makeTriggerRoutes({ access, triggers: createTriggers(triggerItems), reading }),
  ];
};

/** The API: the order of middleware and routers. It listens nowhere yet. */
export const createApp = (deps: AppDeps): Express => {
  const { config, authenticator, forwarder, observe, logger, drain } = deps;
  const parts = createParts(deps);
  const app = express();
  app.disable("x-powered-by").disable("etag").set("query parser", false);

  app.use(assignRequestId, setSecurityHeaders, observeRequests(observe, logger));
  app.use(
    forwardInvokes({
      authenticator,
      access: parts.tenants,
      forwarder,
      internalKey: config.SLESS_INTERNAL_KEY,
      maxBodyBytes: config.SLESS_MAX_BODY_BYTES,
    }),
  );
  app.use(makePages());
  app.use(mountRoutes(makeRoutes(deps, parts), { authenticator, drain }));
  app.use(() => {
    throw new NotFound("There is nothing at this path. The paths are listed at /openapi.json and, to read, at /.");
  });
  app.use(handleErrors(logger));
  return app;
};
