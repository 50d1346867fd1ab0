import { cpuRequest, FUNCTION_CONTAINER, mebibytes, PORT_NAMES, PORTS } from "@sless/contracts";
import type { Container, PodSpec } from "@sless/kube";
import { makeEnvironment, type EnvironmentInput } from "./environment.js";

export interface PodInput extends EnvironmentInput {
  /** Image by digest, proven to be the platform's own build. */
  readonly image: string;
  /** How long a start may take. */
  readonly startSeconds: number;
}

/** A numeric user, so that the kubelet can prove that it is not root. */
const USER = 10_001;
/** Scratch space of an instance, and what it may write in all: the rest is its log. MiB. */
const TMP_MIB = 512;
const STORAGE_MIB = { request: 32, limit: TMP_MIB + 64 };
/** Beyond the longest call: time to notice the end, to answer and to exit. */
const GRACE_SECONDS = 15;

const probe = (path: string, periodSeconds: number, failureThreshold: number) => ({
  httpGet: { path, port: PORT_NAMES.control, scheme: "HTTP" },
  periodSeconds,
  timeoutSeconds: 2,
  failureThreshold,
});

const makeContainer = (input: PodInput): Container => {
  const { memoryMB } = input.version.spec;
  return {
    name: FUNCTION_CONTAINER,
    image: input.image,
    env: makeEnvironment(input),
    ports: [
      { name: PORT_NAMES.call, containerPort: PORTS.call, protocol: "TCP" },
      { name: PORT_NAMES.control, containerPort: PORTS.control, protocol: "TCP" },
    ],
    // No CPU limit: a quota of CPU time stalls a call although the node is idle.
    resources: {
      requests: {
        cpu: cpuRequest(memoryMB),
        memory: mebibytes(memoryMB),
        "ephemeral-storage": mebibytes(STORAGE_MIB.request),
      },
      limits: { memory: mebibytes(memoryMB), "ephemeral-storage": mebibytes(STORAGE_MIB.limit) },
    },
    startupProbe: probe("/readyz", 1, input.startSeconds),
    readinessProbe: probe("/readyz", 1, 1),
    livenessProbe: probe("/livez", 10, 3),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      seccompProfile: { type: "RuntimeDefault" },
    },
    terminationMessagePolicy: "File",
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
};

/** The pod of a version: hostile code behind every wall that Kubernetes has without a sandbox (security 12). */
export const makePodSpec = (input: PodInput): PodSpec => ({
  automountServiceAccountToken: false,
  containers: [makeContainer(input)],
  enableServiceLinks: false,
  restartPolicy: "Always",
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    seccompProfile: { type: "RuntimeDefault" },
  },
  terminationGracePeriodSeconds: input.version.spec.timeoutSec + GRACE_SECONDS,
  volumes: [{ name: "tmp", emptyDir: { sizeLimit: mebibytes(TMP_MIB) } }],
});
