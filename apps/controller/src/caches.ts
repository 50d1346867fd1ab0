import {
  FUNCTION_VERSIONS,
  FUNCTIONS,
  GATEWAY_REPORTS,
  LABELS,
  TENANTS,
  TRIGGERS,
  type Function,
  type FunctionVersion,
  type GatewayReport,
  type Tenant,
  type Trigger,
} from "@sless/contracts";
import {
  configMaps,
  createInformer,
  deployments,
  leases,
  namespaces,
  pods,
  services,
  type ConfigMap,
  type Deployment,
  type Informer,
  type KubeClient,
  type KubeObject,
  type Lease,
  type Logger,
  type Namespace,
  type Pod,
  type Resource,
  type Service,
} from "@sless/kube";

/** Everything that the controllers read: one informer a kind, shared by all of them. */
export interface Caches {
  readonly tenants: Informer<Tenant>;
  /** Index `namespace`. */
  readonly functions: Informer<Function>;
  /** Indexes `namespace` and `functionUid`. */
  readonly versions: Informer<FunctionVersion>;
  /** Indexes `namespace`, `function` (`namespace/name`) and `host` (canonical). */
  readonly triggers: Informer<Trigger>;
  readonly reports: Informer<GatewayReport>;
  readonly gatewayLeases: Informer<Lease>;
  /** Claims of hosts, index `tenant`. */
  readonly hostClaims: Informer<ConfigMap>;
  readonly namespaces: Informer<Namespace>;
  /** Index `versionUid`. */
  readonly deployments: Informer<Deployment>;
  readonly services: Informer<Service>;
  /** Index `versionUid`. */
  readonly pods: Informer<Pod>;
  /** Mirrors until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when each holds its first full list. */
  readonly synced: Promise<unknown>;
}

interface CachesOptions {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly logger: Logger;
  readonly systemNamespace: string;
  /** Canonical host that a trigger asks for. */
  readonly hostOf: (trigger: Trigger) => string | undefined;
}

const byNamespace = ({ metadata }: KubeObject): string[] => (metadata.namespace ? [metadata.namespace] : []);

/** Files an object under the value of a label. */
const byLabel =
  (label: string) =>
  ({ metadata }: KubeObject): string[] => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };

/** Key of the Function that a trigger calls; nothing for a spec that is none. */
export const functionKeyOf = ({ metadata, spec }: Trigger): string =>
  `${metadata.namespace ?? ""}/${(spec as Partial<Trigger["spec"]> | undefined)?.functionRef?.name ?? ""}`;

/** Builds the informers; they list and watch once `run` is called. */
export const createCaches = ({ client, logger, systemNamespace, hostOf }: CachesOptions): Caches => {
  const own = { client, logger };
  const labelled = <T extends KubeObject>(resource: Resource<T>): Informer<T> =>
    createInformer<T>({
      ...own,
      resource,
      labelSelector: LABELS.versionUid,
      indexes: { versionUid: byLabel(LABELS.versionUid) },
    });
  const caches = {
    tenants: createInformer<Tenant>({ ...own, resource: TENANTS }),
    functions: createInformer<Function>({ ...own, resource: FUNCTIONS, indexes: { namespace: byNamespace } }),
    versions: createInformer<FunctionVersion>({
      ...own,
      resource: FUNCTION_VERSIONS,
      indexes: { namespace: byNamespace, functionUid: byLabel(LABELS.functionUid) },
    }),
    triggers: createInformer<Trigger>({
      ...own,
      resource: TRIGGERS,
      indexes: {
        namespace: byNamespace,
        function: (trigger) => [functionKeyOf(trigger)],
        host: (trigger) => [hostOf(trigger)].filter((host) => host !== undefined),
      },
    }),
    reports: createInformer<GatewayReport>({ ...own, resource: GATEWAY_REPORTS, namespace: systemNamespace }),
    gatewayLeases: createInformer<Lease>({
      ...own,
      resource: leases,
      namespace: systemNamespace,
      labelSelector: `${LABELS.component}=gateway`,
    }),
    hostClaims: createInformer<ConfigMap>({
      ...own,
      resource: configMaps,
      namespace: systemNamespace,
      labelSelector: LABELS.hostClaim,
      indexes: { tenant: byLabel(LABELS.tenant) },
    }),
    namespaces: createInformer<Namespace>({
      ...own,
      resource: namespaces,
      labelSelector: LABELS.tenant,
      indexes: { tenant: byLabel(LABELS.tenant) },
    }),
    deployments: labelled<Deployment>(deployments),
    services: labelled<Service>(services),
    pods: labelled<Pod>(pods),
  };
  const all = Object.values(caches);
  return {
    ...caches,
    run: async (signal) => {
      await Promise.all(all.map((cache) => cache.run(signal)));
    },
    synced: Promise.all(all.map((cache) => cache.synced)),
  };
};
