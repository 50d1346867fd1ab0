import { FIELD_MANAGERS, LABELS, type KubeObject, type ResourceType } from "@sless/contracts";
import {
  AlreadyExistsError,
  ConflictError,
  KubeApiError,
  NotFoundError,
  type KubeClient,
  type MergePatch,
} from "@sless/kube";
import { AlreadyExists, Conflict, invalidField, NotFound, PreconditionFailed } from "../errors.js";
import type { IfMatch } from "../http/conditional.js";
import type { IdempotencyClaim } from "../http/idempotency.js";
import { rememberWrite, wasDone } from "./remembered-writes.js";

/** Under which conditions a write shall happen, as the request says. */
export interface WriteIntent {
  readonly ifMatch?: IfMatch | undefined;
  readonly idempotency?: IdempotencyClaim | undefined;
}

export interface ItemKey {
  readonly namespace: string;
  readonly name: string;
}

/** What a change wants written. `exact`: only if the object is still as it was read. */
export interface Change {
  readonly patch: MergePatch;
  readonly exact: boolean;
}

export interface ItemPage<T> {
  readonly items: T[];
  readonly continue?: string;
}

/** Objects of one kind as the REST API reads and writes them. */
export interface Items<T extends KubeObject> {
  /** @throws NotFound */
  get(key: ItemKey): Promise<T>;
  find(key: ItemKey): Promise<T | undefined>;
  list(namespace: string, limit: number, cursor: string | undefined): Promise<ItemPage<T>>;
  create(object: T, intent: WriteIntent): Promise<T>;
  /** Reads, asks what to change and writes it; again when somebody else was faster and the caller did not forbid it. */
  change(key: ItemKey, intent: WriteIntent, decide: (current: T) => Change | Promise<Change>): Promise<T>;
  delete(key: ItemKey, intent: WriteIntent): Promise<void>;
}

const MAX_TRIES = 20;
const FIELD_MANAGER = FIELD_MANAGERS.api;

const refuseStale = (current: KubeObject, ifMatch: IfMatch | undefined): void => {
  const version = current.metadata.resourceVersion;
  if (ifMatch === undefined || ifMatch === "any" || ifMatch.includes(version ?? "")) return;
  throw new PreconditionFailed("It changed since you read it. Read it again, then repeat the change.", version);
};

const explainCursor = (error: unknown): never => {
  if (error instanceof KubeApiError && error.code === 400) {
    throw invalidField("continue", "is not a cursor that this list gave; begin anew without it");
  }
  throw error;
};

const refuseDeleting = (current: KubeObject, what: string): void => {
  if (current.metadata.deletionTimestamp !== undefined) {
    throw new Conflict(`The ${what} is being deleted. Wait until it is gone, then create it anew.`, "Terminating");
  }
};

const withAnnotations = (patch: MergePatch, added: Record<string, string>): MergePatch => {
  if (Object.keys(added).length === 0) return patch;
  const metadata = (patch["metadata"] ?? {}) as Record<string, unknown>;
  const annotations = (metadata["annotations"] ?? {}) as Record<string, unknown>;
  return { ...patch, metadata: { ...metadata, annotations: { ...annotations, ...added } } };
};

/**
 * Items of one kind, straight from the API server: two replicas see the same truth, and preconditions are part of the
 * write itself (security 23).
 */
export const createItems = <T extends KubeObject>(kube: KubeClient, resource: ResourceType<T>): Items<T> => {
  const what = resource.kind.toLowerCase();

  const find = async (key: ItemKey): Promise<T | undefined> => {
    try {
      return await kube.get(resource, key);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  };

  const get = async (key: ItemKey): Promise<T> => {
    const found = await find(key);
    if (!found) throw new NotFound(`There is no ${what} ${key.name}.`);
    return found;
  };

  /** Looks for what an earlier request with this key made, under whatever name it did. */
  const findEarlier = async (namespace: string, claim: IdempotencyClaim): Promise<T | undefined> => {
    const labelSelector = `${LABELS.idempotency}=${claim.scope}`;
    const { items } = await kube.list(resource, { namespace, labelSelector, limit: 2 });
    return items.find((item) => wasDone(item, claim));
  };

  const createNew = async (object: T, claim: IdempotencyClaim | undefined): Promise<T> => {
    try {
      return await kube.create(resource, object, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
      const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
      const there = claim && (await find(key));
      if (there && wasDone(there, claim)) return there;
      throw new AlreadyExists(`There is a ${what} ${object.metadata.name} already. Change it with PUT or PATCH.`);
    }
  };

  const create = async (object: T, { idempotency }: WriteIntent): Promise<T> => {
    if (!idempotency) return createNew(object, undefined);
    const earlier = await findEarlier(object.metadata.namespace ?? "", idempotency);
    if (earlier) return earlier;
    const labels = { ...object.metadata.labels, [LABELS.idempotency]: idempotency.scope };
    const annotations = { ...object.metadata.annotations, ...rememberWrite(undefined, idempotency) };
    return createNew({ ...object, metadata: { ...object.metadata, labels, annotations } }, idempotency);
  };

  const write = (key: ItemKey, current: T, { patch, exact }: Change): Promise<T> => {
    const { uid, resourceVersion } = current.metadata;
    return kube.mergePatch(resource, key, patch, {
      fieldManager: FIELD_MANAGER,
      uid,
      ...(exact && { resourceVersion }),
    });
  };

  const tryChange = async (
    key: ItemKey,
    { ifMatch, idempotency }: WriteIntent,
    decide: (current: T) => Change | Promise<Change>,
  ): Promise<T> => {
    const current = await get(key);
    if (wasDone(current, idempotency)) return current;
    refuseStale(current, ifMatch);
    refuseDeleting(current, what);
    const { patch, exact } = await decide(current);
    const whole = withAnnotations(patch, rememberWrite(current, idempotency));
    if (Object.keys(whole).length === 0) return current;
    const isBound = exact || idempotency !== undefined || (ifMatch !== undefined && ifMatch !== "any");
    return write(key, current, { patch: whole, exact: isBound });
  };

  return {
    find,
    get,
    list: async (namespace, limit, cursor) => {
      const page = await kube.list(resource, { namespace, limit, continue: cursor }).catch(explainCursor);
      return { items: page.items, ...(page.continue !== undefined && { continue: page.continue }) };
    },
    create,
    change: async (key, intent, decide) => {
      for (let tries = 1; ; tries++) {
        try {
          return await tryChange(key, intent, decide);
        } catch (error) {
          // With If-Match, the next try finds another version and answers 412 with it.
          if (!(error instanceof ConflictError) || tries === MAX_TRIES) throw error;
        }
      }
    },
    delete: async (key, { ifMatch }) => {
      const current = await get(key);
      refuseStale(current, ifMatch);
      const { uid, resourceVersion } = current.metadata;
      const isBound = ifMatch !== undefined && ifMatch !== "any";
      try {
        await kube.delete(resource, key, { uid, ...(isBound && { resourceVersion }) });
      } catch (error) {
        if (error instanceof NotFoundError) return;
        if (error instanceof ConflictError) refuseStale(await get(key), ifMatch);
        throw error;
      }
    },
  };
};
