import { ANNOTATIONS, LABELS, tenantNamespace, type Tenant } from "@sless/contracts";
import type { Namespace } from "@sless/kube";
import { problem, type Problem } from "../status/condition-set.js";

/** A Tenant whose name does not follow from its hash would hold another's namespace. */
export const tenantNameProblem = ({ metadata, spec }: Tenant): Problem | undefined => {
  const expected = tenantNamespace(spec.hash);
  if (metadata.name === expected) return undefined;
  return problem("HashConflict", `a Tenant with this hash is named ${expected}; this name belongs to another tenant`);
};

/**
 * Why a namespace can't be this tenant's. Only one that bears the full hash is ever touched (security 7): a namespace of
 * the right name that somebody else made is not adopted.
 */
export const namespaceProblem = (namespace: Namespace, tenant: Tenant): Problem | undefined => {
  const { name, annotations, labels, deletionTimestamp } = namespace.metadata;
  const mark = annotations?.[ANNOTATIONS.tenantHash];
  if (mark === undefined || labels?.[LABELS.tenant] !== tenant.metadata.name) {
    return problem("NamespaceConflict", `namespace ${name} exists without this tenant's mark and is not touched`);
  }
  if (mark !== tenant.spec.hash) {
    return problem("HashConflict", `namespace ${name} bears the mark of another tenant and is not touched`);
  }
  return deletionTimestamp ? problem("Terminating", `namespace ${name} is being deleted`) : undefined;
};

/** True for a namespace that the tenant's end may delete. */
export const isOwnNamespace = (namespace: Namespace, tenant: Tenant): boolean => {
  const reason = namespaceProblem(namespace, tenant)?.reason;
  return reason === undefined || reason === "Terminating";
};
