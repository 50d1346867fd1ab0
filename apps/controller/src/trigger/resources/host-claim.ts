import { ANNOTATIONS, hostClaimName, LABELS } from "@sless/contracts";
import type { ConfigMap } from "@sless/kube";

interface HostClaimInput {
  /** Canonical. */
  readonly host: string;
  readonly tenant: string;
  readonly systemNamespace: string;
  readonly installation: string;
}

/** An object whose name follows from the host: whoever creates it holds the host, and nobody else can (security 1). */
export const makeHostClaim = ({ host, tenant, systemNamespace, installation }: HostClaimInput): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: hostClaimName(host),
    namespace: systemNamespace,
    labels: { [LABELS.managedBy]: installation, [LABELS.tenant]: tenant, [LABELS.hostClaim]: "true" },
    annotations: { [ANNOTATIONS.host]: host },
  },
});
