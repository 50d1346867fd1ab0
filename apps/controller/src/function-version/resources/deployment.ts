import { workloadNamespace } from "@sless/contracts";
import type { Deployment } from "@sless/kube";
import { makeSelector, makeWorkloadLabels } from "./labels.js";
import { makePodSpec, type PodInput } from "./pod.js";

export interface DeploymentInput extends PodInput {
  readonly replicas: number;
  readonly installation: string;
}

/** The Deployment of a version. No owner reference: those do not cross namespaces (D21); the uid label says whose it is. */
export const makeDeployment = (input: DeploymentInput): Deployment => {
  const { version, replicas, installation, startSeconds } = input;
  const labels = makeWorkloadLabels(version, installation);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: version.metadata.name,
      namespace: workloadNamespace(version.metadata.namespace ?? ""),
      labels,
    },
    spec: {
      replicas,
      progressDeadlineSeconds: startSeconds + 1,
      revisionHistoryLimit: 1,
      selector: { matchLabels: makeSelector(version) },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      template: { metadata: { labels }, spec: makePodSpec(input) },
    },
  };
};
