import { createDeferred } from "../deferred.js";
import { makeApiError } from "../errors.js";
import { apiVersionOf, formatKey, objectKeyOf, type KubeObject, type ObjectKey, type Resource } from "../object.js";
import { digestOf } from "../projection.js";

export interface Change {
  version: number;
  kind: string;
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: KubeObject;
  /** What it was before; absent for what is new. */
  before?: KubeObject | undefined;
}

export const kindOf = (resource: Resource): string => `${apiVersionOf(resource)} ${resource.kind}`;

/** Refusals as the API server words them. */
export const refuse = (code: number, reason: string, message: string, field?: string) =>
  makeApiError("fake", { code, reason, message, causes: field ? [{ field }] : [] });

const withoutMeta = ({ metadata: _metadata, status: _status, ...rest }: KubeObject & { status?: unknown }): unknown =>
  rest;

/** The objects of the fake API server and the log of their changes, which watches replay. */
export const createFakeStore = (now: () => Date) => {
  const objects = new Map<string, KubeObject>();
  const changes: Change[] = [];
  let version = 1;
  let uids = 0;
  let changed = createDeferred<void>();

  const address = (resource: Resource, key: ObjectKey): string => `${kindOf(resource)} ${formatKey(key)}`;

  const log = (resource: Resource, type: Change["type"], object: KubeObject, before?: KubeObject): void => {
    changes.push({ version, kind: kindOf(resource), type, object: structuredClone(object), before });
    changed.resolve();
    changed = createDeferred<void>();
  };

  const bump = (object: KubeObject): KubeObject => {
    version += 1;
    object.metadata.resourceVersion = String(version);
    return object;
  };

  const find = (resource: Resource, key: ObjectKey): KubeObject | undefined => objects.get(address(resource, key));

  const remove = (resource: Resource, object: KubeObject): void => {
    objects.delete(address(resource, objectKeyOf(object)));
    log(resource, "DELETED", bump(structuredClone(object)), object);
  };

  return {
    find,
    get version() {
      return String(version);
    },
    get changes(): readonly Change[] {
      return changes;
    },
    nextChange: (): Promise<void> => changed.promise,
    all: (resource: Resource): KubeObject[] =>
      [...objects].filter(([at]) => at.startsWith(`${kindOf(resource)} `)).map(([, object]) => object),
    bookmark: (resource: Resource): void => {
      version += 1;
      log(resource, "BOOKMARK", { metadata: { resourceVersion: String(version) } });
    },
    insert: (resource: Resource, object: KubeObject): KubeObject => {
      const key = objectKeyOf(object);
      if (find(resource, key)) {
        throw refuse(409, "AlreadyExists", `${resource.plural} "${formatKey(key)}" already exists`);
      }
      uids += 1;
      const stored = structuredClone({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind });
      stored.metadata = {
        uid: `uid-${uids}`,
        generation: 1,
        creationTimestamp: now().toISOString(),
        ...stored.metadata,
      };
      objects.set(address(resource, key), bump(stored));
      log(resource, "ADDED", stored);
      return stored;
    },
    /** Stores the next state of an object; the same content changes nothing, as on a real server. */
    update: (resource: Resource, live: KubeObject, next: KubeObject): KubeObject => {
      if (digestOf(live) === digestOf(next)) return live;
      const stored = structuredClone(next);
      const edited = digestOf(withoutMeta(live)) !== digestOf(withoutMeta(stored));
      if (edited) stored.metadata.generation = (live.metadata.generation ?? 0) + 1;
      if (stored.metadata.deletionTimestamp && !stored.metadata.finalizers?.length) {
        remove(resource, stored);
        return stored;
      }
      objects.set(address(resource, objectKeyOf(stored)), bump(stored));
      log(resource, "MODIFIED", stored, live);
      return stored;
    },
    remove,
  };
};

export type FakeStore = ReturnType<typeof createFakeStore>;
