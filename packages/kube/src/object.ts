/** Who owns an object, as the garbage collector reads it. Never crosses namespaces. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

/** Metadata of an object on the wire; everything is optional, since desired objects carry only what they set. */
export interface ObjectMeta {
  name?: string | undefined;
  generateName?: string | undefined;
  namespace?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: readonly string[] | undefined;
  ownerReferences?: readonly OwnerReference[] | undefined;
}

/** The least that every Kubernetes object has. Types of real kinds extend it. */
export interface KubeObject {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
}

/** Where the API server serves a kind. `T` is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Carries the type only; never set. */
  readonly objectType?: T;
}

/** Names one object of a resource; `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  name: string;
  namespace?: string | undefined;
}

/** A page of a list, or the whole of it. `resourceVersion` is that of the snapshot, to start a watch from. */
export interface ObjectList<T> {
  items: T[];
  resourceVersion: string;
  /** Token for the next page; absent on the last. */
  continue?: string;
}

/** `apiVersion` of a resource: `v1`, `apps/v1`. */
export const apiVersionOf = (resource: Resource): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;

/** The key under which caches and queues know an object: `namespace/name`, or `name` for cluster-scoped kinds. */
export const keyOf = (object: KubeObject): string => formatKey(objectKeyOf(object));

/** Text of a key; the inverse of {@link parseKey}. */
export const formatKey = (key: ObjectKey): string => (key.namespace ? `${key.namespace}/${key.name}` : key.name);

/** Reads `namespace/name` or `name`. */
export const parseKey = (key: string): ObjectKey => {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

/** Name and namespace of an object. Throws TypeError when it has no name. */
export const objectKeyOf = (object: KubeObject): ObjectKey => {
  const { name, namespace } = object.metadata;
  if (!name) throw new TypeError(`an object of kind ${object.kind ?? "unknown"} has no metadata.name`);
  return namespace ? { name, namespace } : { name };
};
