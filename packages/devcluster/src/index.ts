export { BUILT_IN_TYPES, RESOURCES } from "./apiserver/resource-table.js";
export { openClusterStore, type OpenClusterStoreOptions } from "./apiserver/open-cluster-store.js";
export { ApiStatusError, type Status } from "./store/api-status-error.js";
export type {
  ClusterStore,
  DeleteOptions,
  KubeObject,
  ListOptions,
  ManagedFieldsEntry,
  NewKubeObject,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  PropagationPolicy,
  ResourceRef,
  ResourceType,
  UpdateOptions,
  WatchEvent,
  WatchListener,
  WatchOptions,
  WriteOptions,
} from "./store/types.js";
