import { FUNCTION_VERSIONS, type FunctionVersion } from "@sless/contracts";
import {
  deployments,
  done,
  NotOwnedError,
  requeueAfter,
  services,
  type KubeObject,
  type ReconcileResult,
  type Resource,
} from "@sless/kube";
import { explainBuildFailure } from "../builds/build-failure.js";
import { releaseFinalizer } from "../finalizers.js";
import { problem, type Problem } from "../status/condition-set.js";
import type { VersionDeps } from "./deps.js";
import { ownerOf, workloadKeyOf } from "./reconcile-workload.js";
import { createVersionDraft, makeVersionStatus, markBlocked } from "./status.js";

/** A registry that was away is asked again after this time; nothing announces its return. */
const RETRY_REGISTRY_MS = 5_000;

/**
 * Deletes one workload object. Asked at the API server and not at the cache, which may not have heard of the newest.
 * @returns true while it is still there.
 */
const removeOwned = async <T extends KubeObject>(
  resource: Resource<T>,
  version: FunctionVersion,
  deps: VersionDeps,
): Promise<boolean> => {
  try {
    const options = { owner: ownerOf(version), propagation: "Background" } as const;
    return await deps.applier.deleteOwned(resource, workloadKeyOf(version), options);
  } catch (error) {
    if (error instanceof NotOwnedError) return false; // Planted under our name: not ours to delete (security 6).
    throw error;
  }
};

/** Another version that runs the same image: the same code of the same function on the same base. */
const isImageShared = (version: FunctionVersion, deps: VersionDeps): boolean =>
  deps.caches.versions
    .byIndex("functionUid", version.spec.functionUid)
    .some(
      ({ metadata, spec }) =>
        metadata.uid !== version.metadata.uid &&
        !metadata.deletionTimestamp &&
        spec.codeDigest === version.spec.codeDigest &&
        spec.baseImage === version.spec.baseImage,
    );

const removeImage = async (
  version: FunctionVersion,
  image: string | undefined,
  deps: VersionDeps,
  signal: AbortSignal,
): Promise<Problem | undefined> => {
  if (image === undefined || isImageShared(version, deps)) return undefined;
  try {
    await deps.images.remove(version.metadata.namespace ?? "", image, signal);
    return undefined;
  } catch (error) {
    const { reason, message } = explainBuildFailure(error);
    return problem(reason, `the image could not be removed: ${message}`);
  }
};

/** Ends the build, then removes workload and image; what can't be removed now stands in the condition (D22). */
export const finalizeVersion = async (
  version: FunctionVersion,
  deps: VersionDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const uid = version.metadata.uid ?? "";
  const state = deps.builds.state(uid);
  await deps.builds.cancel(uid);
  const left = [await removeOwned(deployments, version, deps), await removeOwned(services, version, deps)];
  if (left.includes(true)) return requeueAfter(RETRY_REGISTRY_MS); // The watch wakes it sooner.
  const image = state?.kind === "built" ? state.result.image : version.status?.image;
  const why = await removeImage(version, image, deps, signal);
  if (!why) {
    await releaseFinalizer(deps.client, FUNCTION_VERSIONS, version);
    return done();
  }
  const draft = createVersionDraft(version);
  markBlocked(draft, why);
  await deps.writeStatus(
    FUNCTION_VERSIONS,
    version,
    makeVersionStatus(version, draft, new Date(deps.clock.now()).toISOString()),
  );
  return requeueAfter(RETRY_REGISTRY_MS);
};
