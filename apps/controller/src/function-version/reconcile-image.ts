import type { FunctionVersion, Reason } from "@sless/contracts";
import { explainBuildFailure } from "../builds/build-failure.js";
import type { BuildJob, BuildState } from "../builds/build-runner.js";
import type { ImageRequest } from "../builds/image-builder.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import { isFinalReason } from "../status/final-reasons.js";
import type { VersionDeps } from "./deps.js";
import { markBuildFailed, markBuilding, markBuilt, type VersionDraft } from "./status.js";

/** Waits between attempts of a build that a store or the registry made fail. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** How the image stands after this turn. */
export type ImageOutcome =
  | { readonly kind: "built"; readonly image: string }
  | { readonly kind: "pending" }
  | { readonly kind: "failed"; readonly retryAfterMs: number | undefined };

const makeImageRequest = ({ metadata, spec }: FunctionVersion): ImageRequest => ({
  tenant: metadata.namespace ?? "",
  functionName: spec.functionName,
  functionUid: spec.functionUid,
  codeDigest: spec.codeDigest,
  baseImage: spec.baseImage,
});

const retryDelay = (attempts: number): number =>
  Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 10));

/** True when nothing has to be built: a version at rest whose image was built, or could not be for good. */
export const isImageSettled = (version: FunctionVersion): boolean => {
  const built = conditionOf(version, "ImageBuilt");
  return version.spec.replicas === 0 && built !== undefined && (isTrue(built) || isFinalReason(built.reason));
};

/** A build that failed for good stays so for the same spec, whichever process leads. */
const lastingFailure = (version: FunctionVersion): Problem | undefined => {
  const built = conditionOf(version, "ImageBuilt");
  const isCurrent = version.status?.observedGeneration === version.metadata.generation;
  if (!isCurrent || built?.status !== "False" || !isFinalReason(built.reason)) return undefined;
  return problem(built.reason as Reason, built.message);
};

const markFailed = (draft: VersionDraft, why: Problem, retryAfterMs?: number): ImageOutcome => {
  markBuildFailed(draft, why);
  return { kind: "failed", retryAfterMs };
};

/** Starts the build, or looks how it stands; runs one again that failed for a reason which passes, when its time has come. */
const advanceBuild = (job: BuildJob, version: FunctionVersion, { builds, clock }: VersionDeps): BuildState => {
  const state = builds.ensure(job);
  if (state.kind !== "failed") return state;
  const isFinal = isFinalReason(explainBuildFailure(state.error).reason);
  const isDue = clock.now() >= state.failedAt + retryDelay(state.attempts);
  const isAskedAnew = version.status?.observedGeneration !== version.metadata.generation;
  if (!(isFinal ? isAskedAnew : isDue)) return state;
  builds.retry(job.uid);
  return builds.state(job.uid) ?? state;
};

/**
 * Gets the version's image: from this process's own record, else by a build in the background, which also proves an image
 * that an earlier leader recorded. `status.image` alone is never run: anyone with the status right could have set it.
 */
export const reconcileImage = (
  key: string,
  version: FunctionVersion,
  draft: VersionDraft,
  deps: VersionDeps,
): ImageOutcome => {
  const uid = version.metadata.uid ?? "";
  const failed = deps.builds.state(uid) ? undefined : lastingFailure(version);
  if (failed) return markFailed(draft, failed);
  const request = makeImageRequest(version);
  const recorded = version.status?.image;
  const run = (signal: AbortSignal) => deps.images.build(request, recorded, signal);
  const state = advanceBuild({ uid, key, tenant: request.tenant, run }, version, deps);
  if (state.kind === "built") {
    markBuilt(draft, state);
    return { kind: "built", image: state.result.image };
  }
  if (state.kind === "failed") {
    const why = explainBuildFailure(state.error);
    const waitMs = state.failedAt + retryDelay(state.attempts) - deps.clock.now();
    return markFailed(draft, why, isFinalReason(why.reason) ? undefined : Math.max(1, waitMs));
  }
  markBuilding(draft, version, state);
  return { kind: "pending" };
};
