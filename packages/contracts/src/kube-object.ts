/** An owner in the same namespace (or cluster-scoped). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The parts of Kubernetes' ObjectMeta that sless reads or writes. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/** Any Kubernetes object, as far as every kind shares it. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object with a spec and perhaps a status. */
export interface SpecObject<Spec, Status> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/** How to address a kind at the Kubernetes API. `T` is the object's type and exists only for the compiler. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: T["kind"];
  readonly plural: string;
  readonly namespaced: boolean;
  /** Lets the compiler infer `T` from a descriptor; never set. */
  readonly objectType?: T;
}
