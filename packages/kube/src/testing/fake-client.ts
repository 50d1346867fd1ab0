import { Readable } from "node:stream";
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  Preconditions,
  Selection,
  WatchEvent,
  WatchOptions,
} from "../client.js";
import { apiVersionOf, formatKey, objectKeyOf, type KubeObject, type ObjectKey, type Resource } from "../object.js";
import { findConflicts, mergeApplied, mergePatched } from "./fake-apply.js";
import { createFailures, type Failures, type FailureRule, type FakeVerb } from "./fake-failures.js";
import { isSelected } from "./fake-selection.js";
import { createFakeStore, kindOf, refuse, type Change, type FakeStore } from "./fake-store.js";

/** A write that the fake was asked for, whether or not it changed anything or was made to fail. */
export interface RecordedWrite {
  verb: FakeVerb;
  kind: string;
  /** `namespace/name` or `name`. */
  key: string;
  /** The object, patch or status sent; absent for a delete. */
  body?: unknown;
  options: Record<string, unknown>;
}

export interface FakeKubeClient extends KubeClient {
  /** Every write so far, in order. */
  readonly writes: readonly RecordedWrite[];
  /** Puts an object there with status and all, unrecorded. Returns it as stored. */
  seed<T extends KubeObject>(resource: Resource<T>, object: T): T;
  /** All objects of a kind as they are now. */
  objects<T extends KubeObject>(resource: Resource<T>): T[];
  /** Makes calls fail: `failOn("apply", "Deployment")`. Returns the end of it. */
  failOn(verb: FakeVerb, kind: string, failure?: FailureRule): () => void;
  /** Sends a bookmark to the watches of a kind. */
  bookmark(resource: Resource): void;
  /** Answers of `podLogs`, by `namespace/name`. */
  readonly logs: Map<string, string>;
}

export interface FakeKubeClientOptions {
  now?: (() => Date) | undefined;
  /** Kinds whose status is written with the rest, e.g. GatewayReport. */
  withoutStatusSubresource?: readonly string[] | undefined;
}

type WithStatus = KubeObject & { status?: unknown };

const assertPreconditions = (live: KubeObject, { uid, resourceVersion }: Preconditions): void => {
  const { metadata } = live;
  if (uid !== undefined && uid !== metadata.uid) {
    throw refuse(422, "Invalid", `metadata.uid: Invalid value: "${uid}": field is immutable`, "metadata.uid");
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw refuse(409, "Conflict", "the object has been modified; please apply your changes to the latest version");
  }
};

/** What the server alone writes stays as it is, whatever was sent. */
const keepServerFields = (live: KubeObject, next: KubeObject): KubeObject => {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = live.metadata;
  const kept = { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp };
  const known = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return { ...next, metadata: { ...next.metadata, ...known } };
};

const withoutStatus = ({ status: _status, ...rest }: WithStatus): WithStatus => rest;

const withStatusOf = (from: WithStatus, object: WithStatus): WithStatus =>
  from.status === undefined ? withoutStatus(object) : { ...object, status: from.status };

/** Throws become rejections, as they are over a network. */
const answer = <R>(make: () => R): Promise<R> => Promise.resolve().then(make);

/** How a watch with a selection sees a change: what leaves the selection is deleted, what enters it is added. */
const seenAs = (change: Change, selection: Selection): Change["type"] | undefined => {
  if (change.type === "BOOKMARK") return change.type;
  const is = change.type !== "DELETED" && isSelected(change.object, selection);
  const was = change.before !== undefined && isSelected(change.before, selection);
  if (is) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
};

const createReads = (store: FakeStore, failures: Failures, mustFind: Finder) => ({
  get: <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T> =>
    answer(() => {
      failures.check("get", resource.kind, formatKey(key));
      return structuredClone(mustFind(resource, key)) as T;
    }),
  list: <T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) =>
    answer(() => {
      options.signal?.throwIfAborted();
      failures.check("list", resource.kind, "");
      const selected = store.all(resource).filter((object) => isSelected(object, options));
      const start = Number(options.continue ?? 0);
      const end = start + (options.limit ?? selected.length);
      return {
        items: structuredClone(selected.slice(start, end)) as T[],
        resourceVersion: store.version,
        ...(end < selected.length && { continue: String(end) }),
      };
    }),
  watch: async function* <T extends KubeObject>(resource: Resource<T>, options: WatchOptions) {
    failures.check("watch", resource.kind, "");
    const since = Number(options.resourceVersion);
    let next = store.changes.findIndex((change) => change.version > since);
    if (next < 0) next = store.changes.length;
    while (!options.signal?.aborted) {
      const change = store.changes[next];
      if (!change) {
        await nextChangeOrAbort(store, options.signal);
        continue;
      }
      next += 1;
      const type = change.kind === kindOf(resource) ? seenAs(change, options) : undefined;
      if (type) yield structuredClone({ type, object: change.object }) as WatchEvent<T>;
    }
  },
});

const nextChangeOrAbort = (store: FakeStore, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    signal?.addEventListener("abort", finish, { once: true });
    void store.nextChange().then(finish);
  });

type Finder = (resource: Resource, key: ObjectKey) => WithStatus;

/** Applies of the fake, which remembers each manager's last wish. */
const createApplies = (store: FakeStore, hasStatus: (resource: Resource) => boolean, mustFind: Finder) => {
  const wishes = new Map<string, unknown>();

  const merge = (resource: Resource, live: WithStatus, wish: WithStatus, options: ApplyOptions): WithStatus => {
    const at = `${options.fieldManager} ${kindOf(resource)} ${live.metadata.uid}`;
    const before = wishes.get(at);
    const conflicts = options.force ? [] : findConflicts(live, wish, before);
    if (conflicts.length > 0) throw refuse(409, "Conflict", `Apply failed with conflicts: ${conflicts.join(", ")}`);
    wishes.set(at, structuredClone(wish));
    return keepServerFields(live, mergeApplied(live, wish, before) as WithStatus);
  };

  const stripPreconditions = (object: KubeObject): WithStatus => {
    const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
    return { ...object, metadata };
  };

  return {
    apply: (resource: Resource, object: KubeObject, options: ApplyOptions): KubeObject => {
      const typed = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
      const wish = stripPreconditions(typed);
      const live = store.find(resource, objectKeyOf(object));
      if (live) {
        assertPreconditions(live, object.metadata);
        const merged = merge(resource, live, hasStatus(resource) ? withoutStatus(wish) : wish, options);
        return store.update(resource, live, hasStatus(resource) ? withStatusOf(live, merged) : merged);
      }
      if (object.metadata.uid) throw refuse(409, "Conflict", "uid mismatch: no existing object was found");
      const created = store.insert(resource, hasStatus(resource) ? withoutStatus(wish) : wish);
      wishes.set(`${options.fieldManager} ${kindOf(resource)} ${created.metadata.uid}`, structuredClone(wish));
      return created;
    },
    applyStatus: (resource: Resource, object: WithStatus, options: ApplyOptions): KubeObject => {
      const live = mustFind(resource, objectKeyOf(object));
      assertPreconditions(live, object.metadata);
      const wish = { metadata: {}, status: object.status };
      const statusOptions = { ...options, fieldManager: `${options.fieldManager} status` };
      return store.update(resource, live, merge(resource, live, wish, statusOptions));
    },
  };
};

/**
 * An in-memory KubeClient for table tests of reconcilers: optimistic concurrency, uids, generations, finalizers, the
 * status subresource, merge patches, enough of server-side apply, and watches that feed informers. It knows no schema,
 * no defaults, no admission, no garbage collection: what depends on those is tested against a real API server.
 */
export const createFakeKubeClient = (options: FakeKubeClientOptions = {}): FakeKubeClient => {
  const now = options.now ?? (() => new Date());
  const store = createFakeStore(now);
  const failures = createFailures();
  const writes: RecordedWrite[] = [];
  const logs = new Map<string, string>();
  const hasStatus = (resource: Resource): boolean => !options.withoutStatusSubresource?.includes(resource.kind);

  const mustFind: Finder = (resource, key) => {
    const found = store.find(resource, key);
    if (!found) throw refuse(404, "NotFound", `${resource.plural} "${formatKey(key)}" not found`);
    return found;
  };

  /** Records a write, lets it fail where ordered, and hands out a copy of what it made. */
  const write = <T extends KubeObject>(
    request: { verb: FakeVerb; resource: Resource<T>; key: ObjectKey; body?: unknown; options?: object | undefined },
    make: () => KubeObject,
  ): Promise<T> =>
    answer(() => {
      const { verb, resource, body } = request;
      const key = formatKey(request.key);
      const { signal, ...rest } = (request.options ?? {}) as Record<string, unknown> & { signal?: AbortSignal };
      signal?.throwIfAborted();
      writes.push({
        verb,
        kind: resource.kind,
        key,
        ...(body !== undefined && { body: structuredClone(body) }),
        options: rest,
      });
      failures.check(verb, resource.kind, key);
      return structuredClone(make()) as T;
    });

  const patched = (resource: Resource, key: ObjectKey, patch: unknown, preconditions: Preconditions): WithStatus => {
    const live = mustFind(resource, key);
    assertPreconditions(live, preconditions);
    return keepServerFields(live, mergePatched(live, patch) as WithStatus);
  };

  const applies = createApplies(store, hasStatus, mustFind);

  return {
    ...createReads(store, failures, mustFind),
    create: (resource, object, callOptions) => {
      const suffix = object.metadata.generateName ? writes.length.toString(36).padStart(5, "0") : "";
      const name = object.metadata.name ?? `${object.metadata.generateName ?? ""}${suffix}`;
      const named = { ...object, metadata: { ...object.metadata, name } };
      const request = { verb: "create" as const, resource, key: objectKeyOf(named), body: named, options: callOptions };
      return write(request, () => store.insert(resource, hasStatus(resource) ? withoutStatus(named) : named));
    },
    replace: (resource, object, callOptions) => {
      const key = objectKeyOf(object);
      return write({ verb: "replace", resource, key, body: object, options: callOptions }, () => {
        const live = mustFind(resource, key);
        assertPreconditions(live, object.metadata);
        const typed = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
        const next = keepServerFields(live, typed);
        return store.update(resource, live, hasStatus(resource) ? withStatusOf(live, next) : next);
      });
    },
    mergePatch: (resource, key, patch, callOptions: PatchOptions = {}) =>
      write({ verb: "mergePatch", resource, key, body: patch, options: callOptions }, () => {
        const live = mustFind(resource, key);
        const next = patched(resource, key, patch, callOptions);
        return store.update(resource, live, hasStatus(resource) ? withStatusOf(live, next) : next);
      }),
    patchStatus: (resource, key, status, callOptions: PatchOptions = {}) =>
      write({ verb: "patchStatus", resource, key, body: status, options: callOptions }, () =>
        store.update(resource, mustFind(resource, key), patched(resource, key, { status }, callOptions)),
      ),
    apply: (resource, object, callOptions) =>
      write({ verb: "apply", resource, key: objectKeyOf(object), body: object, options: callOptions }, () =>
        applies.apply(resource, object, callOptions),
      ),
    applyStatus: (resource, object, callOptions) =>
      write({ verb: "applyStatus", resource, key: objectKeyOf(object), body: object, options: callOptions }, () =>
        applies.applyStatus(resource, object, callOptions),
      ),
    delete: async (resource, key, callOptions: DeleteOptions = {}) => {
      await write({ verb: "delete", resource, key, options: callOptions }, () => {
        const live = mustFind(resource, key);
        assertPreconditions(live, callOptions);
        if (!live.metadata.finalizers?.length) store.remove(resource, live);
        else if (!live.metadata.deletionTimestamp) {
          const metadata = { ...live.metadata, deletionTimestamp: now().toISOString() };
          store.update(resource, live, { ...live, metadata });
        }
        return live;
      });
    },
    podLogs: (key) =>
      answer(() => {
        failures.check("podLogs", "Pod", formatKey(key));
        return Readable.from([Buffer.from(logs.get(formatKey(key)) ?? "")]);
      }),
    isReady: () => Promise.resolve(true),
    close: () => undefined,
    writes,
    logs,
    seed: <T extends KubeObject>(resource: Resource<T>, object: T) =>
      structuredClone(store.insert(resource, object)) as T,
    objects: <T extends KubeObject>(resource: Resource<T>) => structuredClone(store.all(resource)) as T[],
    failOn: failures.failOn,
    bookmark: store.bookmark,
  };
};
