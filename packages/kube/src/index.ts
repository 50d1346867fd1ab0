export { createApplier } from "./applier.js";
export type { Applier, ApplierOptions, ApplyIfChangedOptions, ApplyResult, DeleteOwnedOptions } from "./applier.js";
export { createBackoff, pause } from "./backoff.js";
export type { Backoff, BackoffOptions } from "./backoff.js";
export { listAll } from "./client.js";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  MergePatch,
  PatchOptions,
  PodLogOptions,
  Preconditions,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.js";
export { systemClock } from "./clock.js";
export type { Clock } from "./clock.js";
export type { ConnectionOptions } from "./connection.js";
export {
  createController,
  done,
  requeueAfter,
  source,
  StalledError,
  SyncTimeoutError,
  WaitingError,
} from "./controller.js";
export type { Controller, ControllerOptions, Reconcile, ReconcileResult, Source } from "./controller.js";
export {
  AlreadyExistsError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  KubeApiError,
  KubeError,
  makeApiError,
  NotFoundError,
  NotLeadingError,
  NotOwnedError,
  ServerError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
} from "./errors.js";
export type { Status, StatusCause } from "./errors.js";
export { createEventRecorder } from "./event-recorder.js";
export type { EventInput, EventRecorder, EventRecorderOptions } from "./event-recorder.js";
export { createGuardedClient } from "./guarded-client.js";
export { createKubeClient } from "./http-client.js";
export { createInformer } from "./informer.js";
export type { Informer, InformerHandler, InformerOptions } from "./informer.js";
export { createLeaderElector, LeadershipLostError } from "./leader-elector.js";
export type { LeaderElector, LeaderElectorOptions, Leadership } from "./leader-elector.js";
export { microTime } from "./lease.js";
export type { Logger } from "./logger.js";
export { apiVersionOf, formatKey, keyOf, objectKeyOf, parseKey } from "./object.js";
export type { KubeObject, ObjectKey, ObjectList, ObjectMeta, OwnerReference, Resource } from "./object.js";
export { assertOwnedBy, isOwnedBy } from "./owner.js";
export type { Owner } from "./owner.js";
export type { RateLimiterOptions } from "./rate-limiter.js";
export { createReflector } from "./reflector.js";
export type { Reflector, ReflectorOptions, ReflectorSink } from "./reflector.js";
export {
  configMaps,
  cronJobs,
  customResourceDefinitions,
  deployments,
  endpointSlices,
  events,
  ingresses,
  jobs,
  leases,
  limitRanges,
  namespaces,
  networkPolicies,
  pods,
  replicaSets,
  resourceQuotas,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
} from "./resources.js";
export type {
  ConfigMap,
  Container,
  ContainerStatus,
  CronJob,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  Ingress,
  Job,
  KubeEvent,
  Lease,
  LimitRange,
  Namespace,
  NetworkPolicy,
  Pod,
  PodSpec,
  PodTemplateSpec,
  ReplicaSet,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "./resources.js";
export { createStore, deepFreeze } from "./store.js";
export type { Cache, Indexers, Store } from "./store.js";
export type { Wire, WireObject } from "./wire.js";
export { createWorkQueue } from "./work-queue.js";
export type { WorkQueue, WorkQueueMetrics, WorkQueueOptions } from "./work-queue.js";
