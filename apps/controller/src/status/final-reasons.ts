import type { Reason } from "@sless/contracts";

/** Failures of the code or of its build: the same would happen at every start. */
export const FINAL_AT_ONCE: ReadonlySet<string> = new Set<Reason>([
  "BuildFailed",
  "ArtifactMissing",
  "ArtifactCorrupt",
  "RuntimeUnavailable",
  "ProbeFailed",
]);

/** Failures of a start that may have had a passing cause, such as a database that was away at import. */
export const FINAL_WHEN_REPEATED: ReadonlySet<string> = new Set<Reason>(["LoadError", "CrashLoop", "OutOfMemory"]);

/** True for what a version remembers when it is scaled down: starting it anew would likely end the same way. */
export const isFinalReason = (reason: string): boolean => FINAL_AT_ONCE.has(reason) || FINAL_WHEN_REPEATED.has(reason);
