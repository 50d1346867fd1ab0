export {
  createDevcluster,
  REGISTRY_USER,
  S3_ACCESS_KEY_ID,
  type Devcluster,
  type DevclusterOptions,
} from "./devcluster.js";
export { readState, type DevclusterState } from "./devcluster-state.js";
export { makeBaseImage, type BaseImageOptions } from "./base-image/base-image.js";
export type { ImageFiles } from "./base-image/layer.js";
export { createRegistry, type Registry, type RegistryOptions } from "./registry/registry.js";
export { createS3, type S3Options, type S3Server } from "./s3/s3.js";
export { createIssuer, type Issuer, type IssuerOptions, type TokenRequest } from "./issuer/issuer.js";
export { startKubelet, type Kubelet, type KubeletOptions } from "./node/kubelet/kubelet.js";
export { startControllers } from "./node/controllers/controllers.js";
export type { Controller, ControllerDeps } from "./node/controllers/controller.js";
export { createEventRecorder, type EventRecorder } from "./node/kubelet/events.js";
export { createProcessSupervisor, type ProcessSupervisor, type RunningProcess } from "./node/process/supervisor.js";
export { createAdmittingStore } from "./node/quota/admitting-store.js";
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
