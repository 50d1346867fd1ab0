import type { Container, Pod, Probe } from "../objects.js";

const probesOf = ({ startupProbe, readinessProbe, livenessProbe }: Container): (Probe | undefined)[] => [
  startupProbe,
  readinessProbe,
  livenessProbe,
];

/** Names the first thing of a pod that devcluster would otherwise leave out in silence. */
export const findUnsupported = (pod: Pod): string | undefined => {
  const { containers, initContainers = [], activeDeadlineSeconds } = pod.spec;
  if (initContainers.length > 0) return "spec.initContainers";
  if (activeDeadlineSeconds !== undefined) return "spec.activeDeadlineSeconds (a Job's is supported)";
  const at = containers.find(({ lifecycle }) => lifecycle?.preStop ?? lifecycle?.postStart);
  if (at) return `lifecycle hooks (container ${at.name})`;
  const grpc = containers.find((container) => probesOf(container).some((probe) => probe?.grpc));
  return grpc && `gRPC probes (container ${grpc.name})`;
};
