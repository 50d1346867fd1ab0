import { TriggerSpec, type Function, type Trigger } from "@sless/contracts";
import type { TrafficSplit } from "./traffic-split.js";

/** A function as calls see it. */
export interface FunctionRoute {
  /** Tenant namespace and name: how it is called in logs and metrics. */
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  /** Namespace in which the tenant's code runs: pods elsewhere are none of this function's (security 6). */
  readonly workloads: string;
  readonly split: TrafficSplit;
}

/** One trigger's claim on a host: a path prefix that leads to a function. */
export interface HostRoute {
  readonly tenant: string;
  readonly trigger: string;
  /** Prefix without a trailing slash; empty for all paths. */
  readonly prefix: string;
  /** Methods that reach the function; undefined: all. */
  readonly methods: ReadonlySet<string> | undefined;
  readonly function: FunctionRoute;
  /** Traffic tag that the host names; then only that version answers. */
  readonly tag: string | undefined;
}

/** Routes of one host, the longest prefix first. Immutable: a change makes another. */
export type HostRoutes = readonly HostRoute[];

/** What is kept of a Trigger. */
export interface TriggerView {
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  readonly functionKey: string;
  readonly host: string;
  readonly prefix: string;
  readonly methods: readonly string[];
  /** Older triggers win over younger ones that claim the same. */
  readonly rank: string;
}

/** What is kept of a Function. */
export interface FunctionView {
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  readonly traffic: NonNullable<NonNullable<Function["status"]>["traffic"]>;
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/**
 * Wanted now. Whether its function answers is no matter here: a host whose pods are away for a moment is answered 503,
 * not 404. A trigger that was refused has no host in its status.
 */
const takesCalls = (spec: TriggerSpec, { metadata }: Trigger): boolean =>
  spec.enabled && spec.type === "http" && metadata.deletionTimestamp === undefined;

/**
 * What routing needs of a Trigger; undefined for one that takes no calls. `spec.enabled: false` counts at once. The host
 * is the one in status, which the controller has claimed for this tenant: until it has looked at an edit, calls go on at
 * the host that is still held, so that an edit drops none. Fields with a default may be absent, whatever the API server
 * makes of the definition's defaults.
 */
export const selectTrigger = (trigger: Trigger): TriggerView | undefined => {
  const { metadata, status } = trigger;
  const spec = TriggerSpec.safeParse(trigger.spec).data;
  if (spec === undefined || !takesCalls(spec, trigger) || status?.host === undefined) return undefined;
  const tenant = metadata.namespace ?? "";
  return {
    key: keyOf(tenant, metadata.name),
    tenant,
    name: metadata.name,
    functionKey: keyOf(tenant, spec.functionRef.name),
    host: status.host,
    prefix: spec.http.path.replace(/\/+$/, ""),
    methods: spec.http.methods,
    rank: `${metadata.creationTimestamp ?? ""}/${metadata.uid ?? ""}`,
  };
};

/** What routing needs of a Function. */
export const selectFunction = ({ metadata, status }: Function): FunctionView => {
  const tenant = metadata.namespace ?? "";
  const { name } = metadata;
  return { key: keyOf(tenant, name), tenant, name, traffic: status?.traffic ?? [] };
};

const byLengthThenAge = (a: { prefix: string; rank: string }, b: { prefix: string; rank: string }): number =>
  b.prefix.length - a.prefix.length || (a.rank < b.rank ? -1 : 1);

/**
 * Routes of one host, by tag: under `undefined` those of the host itself, under a tag those of `<tag>--<host>`.
 * A host belongs wholly to one tenant (security 1); should two claim it for a moment, the older trigger's has it.
 */
export const makeHostRoutes = (
  triggers: readonly TriggerView[],
  functionOf: (key: string) => FunctionRoute | undefined,
): Map<string | undefined, HostRoutes> => {
  const oldest = triggers.reduce<TriggerView | undefined>(
    (best, next) => (best === undefined || next.rank < best.rank ? next : best),
    undefined,
  );
  const byTag = new Map<string | undefined, HostRoute[]>();
  const own = triggers.filter(({ tenant }) => tenant === oldest?.tenant).sort(byLengthThenAge);
  for (const { tenant, name, prefix, methods, functionKey } of own) {
    const target = functionOf(functionKey);
    if (target === undefined) continue;
    const allowed = methods.length === 0 ? undefined : new Set(methods);
    const tags = target.split.targets.flatMap(({ tag }) => (tag === undefined ? [] : [tag]));
    for (const tag of [undefined, ...tags]) {
      const routes = byTag.get(tag) ?? [];
      routes.push({ tenant, trigger: name, prefix, methods: allowed, function: target, tag });
      byTag.set(tag, routes);
    }
  }
  return byTag;
};

/**
 * The route for a raw path: the longest prefix by whole segments, compared undecoded, so that `/a%2Fb` is not below
 * `/a` (R13).
 */
export const matchPath = (routes: HostRoutes, path: string): HostRoute | undefined =>
  routes.find(
    ({ prefix }) =>
      prefix === "" || (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/")),
  );
