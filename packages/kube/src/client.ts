import type { Readable } from "node:stream";
import type { KubeObject, ObjectKey, ObjectList, Resource } from "./object.js";

/** Every call is bounded: by `timeoutMs` (default 30 s) and by the caller's signal, whose reason is then thrown. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** Narrows a list or watch on the server. Without `namespace`, all namespaces. */
export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface ListOptions extends CallOptions, Selection {
  /** Objects per page. */
  limit?: number | undefined;
  continue?: string | undefined;
  /** `"0"` accepts the server's cache; absent asks for the newest. */
  resourceVersion?: string | undefined;
}

export interface WatchOptions extends Selection {
  signal?: AbortSignal | undefined;
  resourceVersion: string;
  /** The server ends the stream after this long. */
  timeoutSeconds?: number | undefined;
  /** The stream is given up as dead after this long without a byte. */
  idleTimeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Who the changed fields are recorded to belong to. */
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
}

/** The write fails with ConflictError unless the live object is still this one. */
export interface Preconditions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
}

export interface PatchOptions extends WriteOptions, Preconditions {}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Takes fields over from other managers. Without it a field owned by another is a ConflictError. */
  force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions, Preconditions {
  propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  gracePeriodSeconds?: number | undefined;
}

export interface PodLogOptions extends CallOptions {
  container?: string | undefined;
  /** Stay and send what comes; ends with the container, or when the signal aborts. */
  follow?: boolean | undefined;
  tailLines?: number | undefined;
  sinceSeconds?: number | undefined;
  sinceTime?: string | undefined;
  limitBytes?: number | undefined;
  timestamps?: boolean | undefined;
  /** Of the container's previous run. */
  previous?: boolean | undefined;
}

/** What a watch delivers. Errors are thrown, never delivered: a Status is not an object. */
export interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: T;
}

/** A merge patch of `T` (RFC 7386): null deletes a field. */
export type MergePatch = Readonly<Record<string, unknown>>;

/**
 * Typed calls to a Kubernetes API server. Failures are the classes of `errors.ts`; an aborted signal throws its reason.
 * Objects that come back are the caller's own and may be changed.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** One page. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /** One watch connection: ends when the server ends it, throws when it breaks. Reflectors build on it. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Replaces the whole; `metadata.resourceVersion` in the object makes it conditional. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: MergePatch,
    options?: PatchOptions,
  ): Promise<T>;
  /** Merge patch of the status subresource; `status` is the value of the field, null deletes fields in it. */
  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    status: MergePatch,
    options?: PatchOptions,
  ): Promise<T>;
  /** Server-side apply, unconditional unless metadata carries uid or resourceVersion. Prefer `createApplier`. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T>;
  /** Server-side apply of the status subresource. */
  applyStatus<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T>;
  /** Resolves once the server has accepted it; finalizers may keep the object for a while. */
  delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** The log as bytes. Destroy the stream, or abort the signal, to stop following. */
  podLogs(key: Required<ObjectKey>, options?: PodLogOptions): Promise<Readable>;
  /** True when the API server says that it is ready. */
  isReady(options?: CallOptions): Promise<boolean>;
  /** Closes idle connections. Calls in flight are not touched. */
  close(): void;
}

/** Every object of a list, read in pages. Throws GoneError when the list grew stale between two pages. */
export const listAll = async <T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  resource: Resource<T>,
  options: ListOptions = {},
): Promise<ObjectList<T>> => {
  const items: T[] = [];
  let page = await client.list(resource, { limit: 500, ...options });
  items.push(...page.items);
  while (page.continue) {
    page = await client.list(resource, { limit: 500, ...options, resourceVersion: undefined, continue: page.continue });
    items.push(...page.items);
  }
  return { items, resourceVersion: page.resourceVersion };
};
