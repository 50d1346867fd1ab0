import type * as k8s from "@kubernetes/client-node";
import type { KubeObject, Resource } from "./object.js";
import type { Wire, WireObject } from "./wire.js";

export type ConfigMap = WireObject<k8s.V1ConfigMap>;
export type Container = Wire<k8s.V1Container>;
export type ContainerStatus = Wire<k8s.V1ContainerStatus>;
export type CronJob = WireObject<k8s.V1CronJob>;
export type CustomResourceDefinition = WireObject<k8s.V1CustomResourceDefinition>;
export type Deployment = WireObject<k8s.V1Deployment>;
export type EndpointSlice = WireObject<k8s.V1EndpointSlice>;
export type Ingress = WireObject<k8s.V1Ingress>;
export type Job = WireObject<k8s.V1Job>;
export type KubeEvent = WireObject<k8s.CoreV1Event>;
export type Lease = WireObject<k8s.V1Lease>;
export type LimitRange = WireObject<k8s.V1LimitRange>;
export type Namespace = WireObject<k8s.V1Namespace>;
export type NetworkPolicy = WireObject<k8s.V1NetworkPolicy>;
export type Pod = WireObject<k8s.V1Pod>;
export type PodSpec = Wire<k8s.V1PodSpec>;
export type PodTemplateSpec = Wire<k8s.V1PodTemplateSpec>;
export type ReplicaSet = WireObject<k8s.V1ReplicaSet>;
export type ResourceQuota = WireObject<k8s.V1ResourceQuota>;
export type Role = WireObject<k8s.V1Role>;
export type RoleBinding = WireObject<k8s.V1RoleBinding>;
export type Secret = WireObject<k8s.V1Secret>;
export type Service = WireObject<k8s.V1Service>;
export type ServiceAccount = WireObject<k8s.V1ServiceAccount>;

const resource = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> => {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return { group: group ?? "", version: version ?? "", kind, plural, namespaced: true };
};

const clusterScoped = <T extends KubeObject>(of: Resource<T>): Resource<T> => ({ ...of, namespaced: false });

export const configMaps = resource<ConfigMap>("v1", "ConfigMap", "configmaps");
export const events = resource<KubeEvent>("v1", "Event", "events");
export const limitRanges = resource<LimitRange>("v1", "LimitRange", "limitranges");
export const namespaces = clusterScoped(resource<Namespace>("v1", "Namespace", "namespaces"));
export const pods = resource<Pod>("v1", "Pod", "pods");
export const resourceQuotas = resource<ResourceQuota>("v1", "ResourceQuota", "resourcequotas");
export const secrets = resource<Secret>("v1", "Secret", "secrets");
export const serviceAccounts = resource<ServiceAccount>("v1", "ServiceAccount", "serviceaccounts");
export const services = resource<Service>("v1", "Service", "services");
export const deployments = resource<Deployment>("apps/v1", "Deployment", "deployments");
export const replicaSets = resource<ReplicaSet>("apps/v1", "ReplicaSet", "replicasets");
export const cronJobs = resource<CronJob>("batch/v1", "CronJob", "cronjobs");
export const jobs = resource<Job>("batch/v1", "Job", "jobs");
export const leases = resource<Lease>("coordination.k8s.io/v1", "Lease", "leases");
export const endpointSlices = resource<EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
export const ingresses = resource<Ingress>("networking.k8s.io/v1", "Ingress", "ingresses");
export const networkPolicies = resource<NetworkPolicy>("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");
export const roles = resource<Role>("rbac.authorization.k8s.io/v1", "Role", "roles");
export const roleBindings = resource<RoleBinding>("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");
export const customResourceDefinitions = clusterScoped(
  resource<CustomResourceDefinition>(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
  ),
);
