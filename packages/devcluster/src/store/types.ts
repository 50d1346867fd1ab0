import type { ObjectMeta as CommonMeta } from "@sless/contracts";

export type { OwnerReference } from "@sless/contracts";

/** A Kubernetes object as it travels: JSON only. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export interface ObjectMeta extends CommonMeta {
  generateName?: string;
  managedFields?: ManagedFieldsEntry[];
}

export interface ManagedFieldsEntry {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  time?: string;
  fieldsType: "FieldsV1";
  fieldsV1: Record<string, unknown>;
  subresource?: string;
}

/** An object as a writer hands it over: the server fills in what is missing (a name may come from generateName). */
export interface NewKubeObject {
  apiVersion: string;
  kind: string;
  metadata: Partial<ObjectMeta>;
  [field: string]: unknown;
}

/** Names a resource; one version of each is served, so the version is no part of the reference. */
export interface ResourceRef {
  readonly group: string;
  readonly plural: string;
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export type Subresource = "status" | "scale" | "log";

/** One row of the table of what is served. */
export interface ResourceType extends ResourceRef {
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
}

export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

export interface ListOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface WriteOptions {
  /** Whom managedFields names; without it, the part that opened the store. */
  fieldManager?: string | undefined;
  /** Everything is checked and answered, nothing is stored. */
  dryRun?: boolean | undefined;
}

export interface UpdateOptions extends WriteOptions {
  subresource?: "status" | undefined;
}

export interface DeleteOptions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: PropagationPolicy | undefined;
  /** Pods only: 0 removes at once, which is how a kubelet finishes a graceful deletion. */
  gracePeriodSeconds?: number | undefined;
  dryRun?: boolean | undefined;
}

export interface WatchOptions extends ListOptions {
  /** Events after this version. Without it (or "0") every present object comes first, as ADDED. */
  resourceVersion?: string | undefined;
}

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED";
  /** Frozen. Of DELETED: the last state, with the resourceVersion of the deletion. */
  object: KubeObject;
}

export type WatchListener = (event: WatchEvent) => void;

export interface ObjectList {
  items: readonly KubeObject[];
  resourceVersion: string;
}

/**
 * The cluster's state behind all the rules of the API server: what is written in-process is defaulted,
 * validated and versioned as if it had come over HTTP. Objects that come out are deeply frozen:
 * `structuredClone` before a change. Every refusal is an {@link ApiStatusError}.
 */
export interface ClusterStore {
  /** All served types, those of custom resource definitions included. */
  resourceTypes(): readonly ResourceType[];
  get(type: ResourceRef, namespace: string | undefined, name: string): KubeObject | undefined;
  list(type: ResourceRef, options?: ListOptions): ObjectList;
  /** 409 AlreadyExists, 422 Invalid, 403 in a namespace that is terminating, 404 in one that is absent. */
  create(type: ResourceRef, object: NewKubeObject, options?: WriteOptions): KubeObject;
  /**
   * Replaces an object (with `subresource: "status"`, only its status). A resourceVersion in the object is a
   * precondition (409 Conflict); without one the write is unconditional. What changes nothing writes nothing.
   */
  update(type: ResourceRef, object: KubeObject, options?: UpdateOptions): KubeObject;
  /** Removes it, or sets deletionTimestamp when finalizers or a grace period hold it. Answers the last state. */
  delete(type: ResourceRef, namespace: string | undefined, name: string, options?: DeleteOptions): KubeObject;
  /**
   * Calls the listener for each event, in order, never inside the call that caused it.
   * 410 Expired when the resourceVersion is older than the kept history.
   * @returns ends the watch
   */
  watch(type: ResourceRef, options: WatchOptions, listener: WatchListener): () => void;
  /** The version of the newest write. */
  resourceVersion(): string;
  /** Writes what is pending to disk and gives up the lock. */
  close(): Promise<void>;
}
