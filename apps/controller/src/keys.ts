import { LABELS, tenantOfWorkloadNamespace, type FunctionVersion } from "@sless/contracts";
import type { KubeObject } from "@sless/kube";

/** Key of the FunctionVersion that a workload object belongs to, by namespace and labels; none for a foreign one. */
export const versionKeysOf = ({ metadata }: KubeObject): string[] => {
  const tenant = tenantOfWorkloadNamespace(metadata.namespace ?? "");
  const { [LABELS.function]: fn, [LABELS.version]: version } = metadata.labels ?? {};
  if (tenant === undefined || fn === undefined || version === undefined) return [];
  return [`${tenant}/${fn}-${version.padStart(5, "0")}`];
};

/** Key of the Function that a version belongs to. */
export const functionKeysOf = ({ metadata, spec }: FunctionVersion): string[] => [
  `${metadata.namespace ?? ""}/${spec.functionName}`,
];
