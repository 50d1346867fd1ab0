import { canonicalHost, workloadNamespace } from "@sless/contracts";
import {
  makeHostRoutes,
  matchPath,
  type FunctionRoute,
  type FunctionView,
  type HostRoute,
  type HostRoutes,
  type TriggerView,
} from "./routes.js";
import { createTrafficSplit } from "./traffic-split.js";

/** Spellings of hosts that are remembered with their canonical form; hostile clients can't grow it further. */
const MAX_REMEMBERED_HOSTS = 4096;

const addTo = (index: Map<string, Set<string>>, at: string, value: string): void => {
  const values = index.get(at) ?? new Set();
  index.set(at, values.add(value));
};

const removeFrom = (index: Map<string, Set<string>>, at: string, value: string): void => {
  const values = index.get(at);
  values?.delete(value);
  if (values?.size === 0) index.delete(at);
};

/**
 * Where calls go, kept current by events about Triggers and Functions. Routes of a host are immutable and replaced as a
 * whole; an event recomputes only the hosts that it concerns, so its cost does not grow with the number of tenants.
 */
export class RoutingTable {
  readonly #hosts = new Map<string, HostRoutes>();
  /** Hosts with a tag before them, apart from the others: a host that somebody really holds comes first. */
  readonly #taggedHosts = new Map<string, HostRoutes>();
  readonly #tagsOfHost = new Map<string, readonly string[]>();
  readonly #triggers = new Map<string, TriggerView>();
  readonly #functions = new Map<string, FunctionRoute>();
  readonly #triggersByHost = new Map<string, Set<string>>();
  readonly #triggersByFunction = new Map<string, Set<string>>();
  readonly #canonical = new Map<string, string>();

  get hostCount(): number {
    return this.#hosts.size;
  }

  /** A function by tenant namespace and name. */
  functionOf(tenant: string, name: string): FunctionRoute | undefined {
    return this.#functions.get(`${tenant}/${name}`);
  }

  /** The route for a `Host` header and a raw path. */
  match(rawHost: string, path: string): HostRoute | undefined {
    const routes = this.#hosts.get(rawHost) ?? this.#byCanonicalHost(rawHost);
    return routes === undefined ? undefined : matchPath(routes, path);
  }

  setTrigger(key: string, trigger: TriggerView | undefined): void {
    const old = this.#triggers.get(key);
    if (old !== undefined) {
      this.#triggers.delete(key);
      removeFrom(this.#triggersByHost, old.host, key);
      removeFrom(this.#triggersByFunction, old.functionKey, key);
    }
    if (trigger !== undefined) {
      this.#triggers.set(key, trigger);
      addTo(this.#triggersByHost, trigger.host, key);
      addTo(this.#triggersByFunction, trigger.functionKey, key);
    }
    for (const host of new Set([old?.host, trigger?.host])) if (host !== undefined) this.#rebuild(host);
  }

  setFunction(key: string, view: FunctionView | undefined): void {
    if (view === undefined) this.#functions.delete(key);
    else {
      const { tenant, name, traffic } = view;
      this.#functions.set(key, {
        key,
        tenant,
        name,
        workloads: workloadNamespace(tenant),
        split: createTrafficSplit(traffic),
      });
    }
    const triggers = [...(this.#triggersByFunction.get(key) ?? [])].map((trigger) => this.#triggers.get(trigger)?.host);
    for (const host of new Set(triggers)) if (host !== undefined) this.#rebuild(host);
  }

  #byCanonicalHost(rawHost: string): HostRoutes | undefined {
    const host = this.#canonicalHost(rawHost);
    return host === undefined ? undefined : (this.#hosts.get(host) ?? this.#taggedHosts.get(host));
  }

  #canonicalHost(rawHost: string): string | undefined {
    const remembered = this.#canonical.get(rawHost);
    if (remembered !== undefined) return remembered;
    const host = canonicalHost(rawHost);
    // Only hosts that lead somewhere are worth a place.
    const isKnown = host !== undefined && (this.#hosts.has(host) || this.#taggedHosts.has(host));
    if (isKnown && this.#canonical.size < MAX_REMEMBERED_HOSTS) this.#canonical.set(rawHost, host);
    return host;
  }

  #rebuild(host: string): void {
    for (const tag of this.#tagsOfHost.get(host) ?? []) this.#taggedHosts.delete(`${tag}--${host}`);
    this.#tagsOfHost.delete(host);
    this.#hosts.delete(host);
    const triggers = [...(this.#triggersByHost.get(host) ?? [])].flatMap((key) => this.#triggers.get(key) ?? []);
    const byTag = makeHostRoutes(triggers, (key) => this.#functions.get(key));
    const tags: string[] = [];
    for (const [tag, routes] of byTag) {
      if (tag === undefined) this.#hosts.set(host, routes);
      else {
        this.#taggedHosts.set(`${tag}--${host}`, routes);
        tags.push(tag);
      }
    }
    if (tags.length > 0) this.#tagsOfHost.set(host, tags);
  }
}
