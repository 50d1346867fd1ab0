import { RESOURCES } from "../apiserver/resource-table.js";
import type { KubeObject, ObjectMeta } from "../store/types.js";

/** The fields of built-in kinds that the node half reads and writes, as in the Kubernetes API reference v1.35. */

export interface KeySelector {
  name: string;
  key: string;
  optional?: boolean;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: KeySelector;
    configMapKeyRef?: KeySelector;
    fieldRef?: { fieldPath: string };
    resourceFieldRef?: { resource: string };
  };
}

export interface EnvFromSource {
  prefix?: string;
  secretRef?: { name: string; optional?: boolean };
  configMapRef?: { name: string; optional?: boolean };
}

export interface Probe {
  httpGet?: {
    path?: string;
    port: number | string;
    scheme?: string;
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: number | string };
  exec?: { command: string[] };
  grpc?: unknown;
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

export interface ContainerPort {
  name?: string;
  containerPort: number;
  protocol?: string;
}

export type Quantities = Record<string, string>;

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  ports?: ContainerPort[];
  resources?: { limits?: Quantities; requests?: Quantities };
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[];
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: unknown; postStart?: unknown };
  terminationMessagePath?: string;
  terminationMessagePolicy?: "File" | "FallbackToLogsOnError";
}

export interface KeyToPath {
  key: string;
  path: string;
}

export interface Volume {
  name: string;
  emptyDir?: unknown;
  secret?: { secretName: string; items?: KeyToPath[]; optional?: boolean };
  configMap?: { name: string; items?: KeyToPath[]; optional?: boolean };
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  nodeName?: string;
  restartPolicy?: "Always" | "OnFailure" | "Never";
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  imagePullSecrets?: { name: string }[];
  hostname?: string;
}

export interface Terminated {
  exitCode: number;
  signal?: number;
  reason: string;
  message?: string;
  startedAt: string;
  finishedAt: string;
  containerID: string;
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: Terminated;
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
}

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  observedGeneration?: number;
}

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

export interface PodStatus {
  phase: PodPhase;
  reason?: string;
  message?: string;
  conditions: Condition[];
  hostIP: string;
  hostIPs: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime: string;
  containerStatuses: ContainerStatus[];
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: Partial<PodStatus>;
}

export interface PodTemplate {
  metadata?: Partial<ObjectMeta>;
  spec: PodSpec;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: "In" | "NotIn" | "Exists" | "DoesNotExist"; values?: string[] }[];
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  conditions?: Condition[];
}

export interface Deployment extends KubeObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy?: {
      type?: "RollingUpdate" | "Recreate";
      rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    paused?: boolean;
  };
  status?: DeploymentStatus;
}

export interface ReplicaSet extends KubeObject {
  spec: { replicas?: number; selector: LabelSelector; template: PodTemplate; minReadySeconds?: number };
  status?: {
    replicas?: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

export interface Service extends KubeObject {
  spec?: {
    selector?: Record<string, string>;
    clusterIP?: string;
    ports?: { name?: string; port: number; targetPort?: number | string; protocol?: string }[];
    publishNotReadyAddresses?: boolean;
  };
}

export interface JobStatus {
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  startTime?: string;
  completionTime?: string;
  conditions?: Condition[];
}

export interface Job extends KubeObject {
  spec: {
    template: PodTemplate;
    selector?: LabelSelector;
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
  };
  status?: JobStatus;
}

export interface ResourceQuota extends KubeObject {
  spec?: { hard?: Quantities; scopes?: string[]; scopeSelector?: unknown };
  status?: { hard?: Quantities; used?: Quantities };
}

export const {
  pods: PODS,
  nodes: NODES,
  services: SERVICES,
  secrets: SECRETS,
  configMaps: CONFIG_MAPS,
  events: EVENTS,
  resourceQuotas: RESOURCE_QUOTAS,
  deployments: DEPLOYMENTS,
  replicaSets: REPLICA_SETS,
  jobs: JOBS,
  endpointSlices: ENDPOINT_SLICES,
} = RESOURCES;

/** Times of the API have whole seconds. */
export const kubeTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

export const splitKey = (key: string): { namespace: string; name: string } => {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

/** The one owner that controls an object. */
export const controllerOf = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.find(({ controller }) => controller);

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid;

export const ownerReferenceTo = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Puts a condition in place; its transition time stays while its status does. */
export const withCondition = (
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: number,
): Condition[] => {
  const before = conditionOf(conditions, condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: since ?? kubeTime(now) };
  if (!before) return [...(conditions ?? []), next];
  return (conditions ?? []).map((other) => (other.type === condition.type ? next : other));
};
