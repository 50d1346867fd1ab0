import { ArtifactError, ArtifactNotFound } from "@sless/artifacts";
import { ArtifactMismatch, BuildRejected, CodeRejected, RegistryError } from "@sless/images";
import { problem, type Problem } from "../status/condition-set.js";

/**
 * Says whose fault a failed build is. What user or operator has to mend is lasting; what stores and registry may do
 * better next time is not, and is tried again.
 */
export const explainBuildFailure = (error: unknown): Problem => {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ArtifactNotFound) {
    return problem("ArtifactMissing", `the code is not in the object store; upload it again (${message})`);
  }
  if (error instanceof ArtifactMismatch) return problem("ArtifactCorrupt", message);
  if (error instanceof CodeRejected || error instanceof BuildRejected) return problem("BuildFailed", message);
  if (error instanceof ArtifactError) return problem("StoreUnavailable", message);
  if (error instanceof RegistryError) return problem("RegistryUnavailable", message);
  return problem("InternalError", `the build failed: ${message}`);
};
