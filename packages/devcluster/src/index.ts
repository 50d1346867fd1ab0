export { createApiServer, type ApiServer, type ApiServerOptions } from "./apiserver/create-api-server.js";
export type { PodLogRequest, PodLogs } from "./apiserver/http/pod-log.js";
export type { ServedStore } from "./apiserver/served-store.js";
export { startCoreControllers } from "./apiserver/controllers/start-controllers.js";
export { loadOrMakeCertificate } from "./apiserver/tls/certificate-file.js";
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
