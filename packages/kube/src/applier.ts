import type { CallOptions, KubeClient } from "./client.js";
import { NotFoundError } from "./errors.js";
import { createLru } from "./lru.js";
import {
  apiVersionOf,
  formatKey,
  keyOf,
  objectKeyOf,
  type KubeObject,
  type ObjectKey,
  type Resource,
} from "./object.js";
import { assertOwnedBy, isOwnedBy, type Owner } from "./owner.js";
import { digestOf, pickDesired } from "./projection.js";

export interface ApplierOptions {
  client: Pick<KubeClient, "get" | "apply" | "delete">;
  /** Fields are recorded as this manager's; the same for all replicas. */
  fieldManager: string;
  /** How many objects to remember. Default 50,000. */
  capacity?: number | undefined;
}

export interface ApplyIfChangedOptions<T> extends CallOptions {
  /** The live object, whole, as the cache has it. Absent (also when the cache has none): it is fetched. */
  live?: T | undefined;
  /** Whose it must be, and whose label `desired` must carry. */
  owner?: Owner | undefined;
}

export interface ApplyResult<T> {
  outcome: "created" | "updated" | "unchanged";
  /** The live object after it. */
  object: T;
}

export interface DeleteOwnedOptions extends CallOptions {
  live?: KubeObject | undefined;
  owner: Owner;
  propagation?: "Background" | "Foreground" | "Orphan" | undefined;
}

/** Server-side apply for reconcilers: no write when nothing would change, none to what is another's. */
export interface Applier {
  /**
   * Makes the live object hold what `desired` says. Throws NotOwnedError for another's object, ConflictError when the
   * object changed since `live` was read (come again with a newer one), and the client's errors.
   */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    desired: T,
    options?: ApplyIfChangedOptions<T>,
  ): Promise<ApplyResult<T>>;
  /** Deletes the very object that was looked at, if it is the owner's. False when there is none. Throws NotOwnedError. */
  deleteOwned<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOwnedOptions,
  ): Promise<boolean>;
}

/** What the last apply of an object asked for, and how the server then held it. */
interface Memory {
  uid: string;
  desired: string;
  held: string;
}

const DEFAULT_CAPACITY = 50_000;

const outcomeOf = (before: KubeObject | undefined, after: KubeObject): ApplyResult<unknown>["outcome"] => {
  if (!before) return "created";
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? "unchanged" : "updated";
};

/** What the caller sets as a precondition is no part of the wish. */
const withoutPreconditions = <T extends KubeObject>(object: T): T => {
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
};

/**
 * "Nothing would change" is decided by memory: the wish is the one applied last, and the live object still holds, for
 * every field of that wish, what the server answered then. So defaults and rewritten quantities ("1000m" → "1") are
 * compared with themselves, a foreign edit of our fields shows, foreign annotations and defaults do not, and a field
 * dropped from the wish is another wish. A new process applies each object once, which changes nothing on the server.
 */
export const createApplier = ({ client, fieldManager, capacity = DEFAULT_CAPACITY }: ApplierOptions): Applier => {
  const memories = createLru<Memory>(capacity);
  const memoryKey = (resource: Resource, key: ObjectKey): string =>
    `${apiVersionOf(resource)}/${resource.kind}/${formatKey(key)}`;

  const find = async <T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: CallOptions,
  ): Promise<T | undefined> => {
    try {
      return await client.get(resource, key, { signal: options.signal, timeoutMs: options.timeoutMs });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  };

  const isUnchanged = (memory: Memory | undefined, wish: KubeObject, live: KubeObject): boolean =>
    memory !== undefined &&
    memory.uid === live.metadata.uid &&
    memory.desired === digestOf(wish) &&
    memory.held === digestOf(pickDesired(live, wish));

  /**
   * On an existing object fields are forced, yet only on the very object that was looked at: a stale leader's write
   * meets another resourceVersion. A new one is not forced, so that whoever was quicker is met as a conflict.
   */
  const write = <T extends KubeObject>(
    resource: Resource<T>,
    wish: T,
    live: T | undefined,
    options: CallOptions,
  ): Promise<T> => {
    const { uid, resourceVersion } = live?.metadata ?? {};
    const metadata = { ...wish.metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    const { signal, timeoutMs } = options;
    return client.apply(
      resource,
      { ...wish, metadata },
      { fieldManager, force: live !== undefined, signal, timeoutMs },
    );
  };

  /** The live object, ours or absent. */
  const readLive = async <T extends KubeObject>(
    resource: Resource<T>,
    wish: T,
    options: ApplyIfChangedOptions<T>,
  ): Promise<T | undefined> => {
    const { owner } = options;
    if (owner && !isOwnedBy(wish, owner)) {
      throw new TypeError(`desired ${resource.kind} ${keyOf(wish)} lacks its owner's label ${owner.labelKey}`);
    }
    const live = options.live ?? (await find(resource, objectKeyOf(wish), options));
    if (live && owner) assertOwnedBy(live, owner);
    return live;
  };

  return {
    apply: async (resource, desired, options = {}) => {
      const wish = { ...withoutPreconditions(desired), apiVersion: apiVersionOf(resource), kind: resource.kind };
      const live = await readLive(resource, wish, options);
      const at = memoryKey(resource, objectKeyOf(wish));
      if (live && isUnchanged(memories.get(at), wish, live)) return { outcome: "unchanged", object: live };
      const object = await write(resource, wish, live, options);
      const held = digestOf(pickDesired(object, wish));
      memories.set(at, { uid: object.metadata.uid ?? "", desired: digestOf(wish), held });
      return { outcome: outcomeOf(live, object), object };
    },
    deleteOwned: async (resource, key, options) => {
      const live = options.live ?? (await find(resource, key, options));
      memories.delete(memoryKey(resource, key));
      if (!live) return false;
      assertOwnedBy(live, options.owner);
      if (live.metadata.deletionTimestamp) return true;
      const { propagation, signal, timeoutMs } = options;
      try {
        await client.delete(resource, key, { uid: live.metadata.uid, propagation, signal, timeoutMs });
        return true;
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
    },
  };
};
