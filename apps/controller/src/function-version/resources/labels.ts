import { LABELS, type FunctionVersion } from "@sless/contracts";

/** Labels of everything that a version has in the workload namespace; the uid says whose it is (security 6). */
export const makeWorkloadLabels = (version: FunctionVersion, installation: string): Record<string, string> => ({
  [LABELS.managedBy]: installation,
  [LABELS.tenant]: version.metadata.namespace ?? "",
  [LABELS.function]: version.spec.functionName,
  [LABELS.functionUid]: version.spec.functionUid,
  [LABELS.version]: String(version.spec.version),
  [LABELS.versionUid]: version.metadata.uid ?? "",
});

/** What selects the pods of a version. */
export const makeSelector = (version: FunctionVersion): Record<string, string> => ({
  [LABELS.versionUid]: version.metadata.uid ?? "",
});
