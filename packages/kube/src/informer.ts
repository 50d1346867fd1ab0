import { isDeepStrictEqual } from "node:util";
import type { KubeClient, Selection } from "./client.js";
import type { Logger } from "./logger.js";
import { keyOf, type KubeObject, type Resource } from "./object.js";
import { createReflector, type ReflectorOptions } from "./reflector.js";
import { createStore, type Cache, type Indexers } from "./store.js";

/** Told after the cache has changed. A handler that throws is logged and harms nobody else. */
export interface InformerHandler<V> {
  onAdd?(value: V, key: string): void;
  onUpdate?(value: V, old: V, key: string): void;
  onDelete?(old: V, key: string): void;
}

type Tuning = "pageSize" | "watchTimeoutSeconds" | "idleTimeoutMs" | "backoff";

export interface InformerOptions<T extends KubeObject, V>
  extends Pick<ReflectorOptions<T, unknown>, Tuning>, Selection {
  client: Pick<KubeClient, "list" | "watch">;
  resource: Resource<T>;
  /** What to keep of an object. An update that changes none of it tells nobody. Default: all but managedFields. */
  select?: ((object: T) => V) | undefined;
  indexes?: Indexers<V> | undefined;
  logger: Logger;
}

/** A cache that follows the API server. */
export interface Informer<V> extends Cache<V> {
  readonly kind: string;
  /** Mirrors until the signal aborts; start it once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the cache holds the first full list. */
  readonly synced: Promise<void>;
  /** Up to where the cache is current; bookmarks advance it too. */
  readonly lastResourceVersion: string | undefined;
  /** Adds a handler, which first hears of everything that is already there. Returns its removal. */
  addHandler(handler: InformerHandler<V>): () => void;
  /** Tells each new `lastResourceVersion`, after the handlers have heard of all up to it. Returns its removal. */
  onProgress(listener: (resourceVersion: string) => void): () => void;
}

interface Entry<V> {
  key: string;
  value: V;
}

const dropManagedFields = <T extends KubeObject>(object: T): T => {
  const metadata: KubeObject["metadata"] & { managedFields?: unknown } = object.metadata;
  delete metadata.managedFields;
  return object;
};

/** Handlers and listeners of an informer; one that throws is logged. */
const createBroadcast = <V>(kind: string, logger: Logger) => {
  const handlers = new Set<InformerHandler<V>>();
  const listeners = new Set<(resourceVersion: string) => void>();
  const guarded = (tell: () => void): void => {
    try {
      tell();
    } catch (err) {
      logger.error({ err, kind }, "informer handler failed");
    }
  };
  const each = (tell: (handler: InformerHandler<V>) => void): void => {
    for (const handler of handlers) guarded(() => tell(handler));
  };
  return {
    handlers,
    listeners,
    guarded,
    changed: (key: string, value: V, old: V | undefined): void => {
      if (old === undefined) each((handler) => handler.onAdd?.(value, key));
      else each((handler) => handler.onUpdate?.(value, old, key));
    },
    deleted: (key: string, old: V): void => each((handler) => handler.onDelete?.(old, key)),
    progressed: (resourceVersion: string): void => {
      for (const listener of listeners) guarded(() => listener(resourceVersion));
    },
  };
};

/** A read-only cache of one kind, all namespaces or one, filtered on the server. */
export const createInformer = <T extends KubeObject, V = T>(options: InformerOptions<T, V>): Informer<V> => {
  const { resource, logger, namespace, labelSelector, fieldSelector } = options;
  const select = options.select ?? ((object: T) => object as unknown as V);
  const store = createStore<V>(options.indexes);
  const broadcast = createBroadcast<V>(resource.kind, logger);

  const upsert = ({ key, value }: Entry<V>): void => {
    if (isDeepStrictEqual(store.get(key), value)) return;
    const old = store.set(key, value);
    broadcast.changed(key, value, old);
  };

  const remove = (key: string): void => {
    const old = store.delete(key);
    if (old !== undefined) broadcast.deleted(key, old);
  };

  const reflector = createReflector<T, Entry<V>>({
    ...options,
    selection: { namespace, labelSelector, fieldSelector },
    prepare: (object) => ({ key: keyOf(object), value: select(dropManagedFields(object)) }),
    sink: {
      replace: (entries) => {
        const alive = new Set(entries.map((entry) => entry.key));
        for (const key of store.keys()) if (!alive.has(key)) remove(key);
        entries.forEach(upsert);
      },
      upsert,
      remove: ({ key }) => remove(key),
      progress: broadcast.progressed,
    },
  });

  return {
    kind: resource.kind,
    get: store.get,
    list: store.list,
    byIndex: store.byIndex,
    get size() {
      return store.size;
    },
    run: reflector.run,
    synced: reflector.synced,
    get lastResourceVersion() {
      return reflector.lastResourceVersion;
    },
    addHandler: (handler) => {
      for (const key of store.keys()) {
        const value = store.get(key);
        if (value !== undefined) broadcast.guarded(() => handler.onAdd?.(value, key));
      }
      broadcast.handlers.add(handler);
      return () => broadcast.handlers.delete(handler);
    },
    onProgress: (listener) => {
      broadcast.listeners.add(listener);
      return () => broadcast.listeners.delete(listener);
    },
  };
};
