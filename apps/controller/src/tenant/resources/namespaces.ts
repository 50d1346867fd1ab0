import { ANNOTATIONS, LABELS, workloadNamespace, type Tenant } from "@sless/contracts";
import type { Namespace } from "@sless/kube";

/** Pod Security level that the API server enforces on tenants' code, whoever makes the pod (security 12). */
const POD_SECURITY = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
  "pod-security.kubernetes.io/audit": "restricted",
} as const;

const makeNamespace = (name: string, tenant: Tenant, installation: string): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: { [LABELS.managedBy]: installation, [LABELS.tenant]: tenant.metadata.name, ...POD_SECURITY },
    annotations: { [ANNOTATIONS.tenantHash]: tenant.spec.hash },
  },
});

/** Both namespaces of a tenant: for its resources, and for its code. */
export const makeNamespaces = (tenant: Tenant, installation: string): readonly Namespace[] => [
  makeNamespace(tenant.metadata.name, tenant, installation),
  makeNamespace(workloadNamespace(tenant.metadata.name), tenant, installation),
];
