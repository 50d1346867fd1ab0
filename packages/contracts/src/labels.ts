import { API_GROUP } from "./names.js";

const key = (name: string) => `${API_GROUP}/${name}` as const;

/** Labels on everything that sless makes. Ownership is the uid label together with the right namespace. */
export const LABELS = {
  /** Installation that made the object; garbage is swept only under one's own. */
  managedBy: key("managed-by"),
  /** `api`, `controller`, `gateway`: on the platform's own objects. */
  component: key("component"),
  tenant: key("tenant"),
  function: key("function"),
  functionUid: key("function-uid"),
  version: key("version"),
  versionUid: key("version-uid"),
  trigger: key("trigger"),
  triggerUid: key("trigger-uid"),
  /** On the ConfigMap that claims a host for a tenant. */
  hostClaim: key("host-claim"),
  /** Hash of the Idempotency-Key (with tenant, method and path) of the request that created the object. */
  idempotency: key("idempotency"),
} as const;

export const ANNOTATIONS = {
  /** Full hash of the tenant, on both of its namespaces: one without it is never touched. */
  tenantHash: key("tenant-hash"),
  /** Set by a rollback beside `spec.traffic`; the next code change clears both. */
  pinnedBy: key("pinned-by"),
  /** Why somebody rolled back, as the caller gave it. */
  rollbackReason: key("rollback-reason"),
  /** Last writes with an Idempotency-Key: JSON list of `{scope, body}`, both hashes, newest first. */
  idempotency: key("idempotency"),
  /** Canonical host in clear on a host claim. */
  host: key("host"),
} as const;

/** Finalizer on Function, FunctionVersion, Trigger and Tenant: children in other namespaces go first. */
export const FINALIZER = key("cleanup");

/** Field managers of server-side apply, one a component. */
export const FIELD_MANAGERS = { api: "sless-api", controller: "sless-controller", gateway: "sless-gateway" } as const;
