import { LABELS, workloadNamespace, type Function, type FunctionVersion } from "@sless/contracts";
import { deployments, ForbiddenError, formatKey, isOwnedBy, services, type Owner } from "@sless/kube";
import { problem, type Problem } from "../status/condition-set.js";
import { judgeWorkload, type Availability } from "./availability.js";
import type { VersionDeps } from "./deps.js";
import { makeDeployment } from "./resources/deployment.js";
import { makeService } from "./resources/service.js";

/** Whose the workload objects are. */
export const ownerOf = (version: FunctionVersion): Owner => ({
  labelKey: LABELS.versionUid,
  uid: version.metadata.uid ?? "",
});

/** Key of the version's Deployment and Service. */
export const workloadKeyOf = ({ metadata }: FunctionVersion): { namespace: string; name: string } => ({
  namespace: workloadNamespace(metadata.namespace ?? ""),
  name: metadata.name,
});

/**
 * Puts Deployment and Service as they shall be; nothing is written when they are (D26), and nothing of another uid is
 * touched (security 6).
 * @returns why the API server refuses to hold them, when a quota does.
 */
export const applyWorkload = async (
  version: FunctionVersion,
  fn: Function,
  image: string,
  deps: VersionDeps,
): Promise<Problem | undefined> => {
  const { installation, startSeconds, maxBodyBytes, caches, applier } = deps;
  const owner = ownerOf(version);
  const key = formatKey(workloadKeyOf(version));
  const { concurrency } = fn.spec.scale;
  const { replicas } = version.spec;
  const input = { version, image, concurrency, replicas, installation, startSeconds, maxBodyBytes };
  try {
    const deployment = makeDeployment(input);
    await applier.apply(deployments, deployment, { live: caches.deployments.get(key), owner });
    await applier.apply(services, makeService(version, installation), { live: caches.services.get(key), owner });
    return undefined;
  } catch (error) {
    if (error instanceof ForbiddenError && error.isQuotaExceeded) return problem("QuotaExceeded", error.status.message);
    throw error;
  }
};

/** Removes the workload of a version that rests. What the cache does not know yet is removed when it hears of it. */
export const removeRestingWorkload = async (version: FunctionVersion, deps: VersionDeps): Promise<void> => {
  const owner = ownerOf(version);
  const key = workloadKeyOf(version);
  const deployment = deps.caches.deployments.get(formatKey(key));
  const service = deps.caches.services.get(formatKey(key));
  if (deployment && isOwnedBy(deployment, owner)) {
    await deps.applier.deleteOwned(deployments, key, { live: deployment, owner, propagation: "Background" });
  }
  if (service && isOwnedBy(service, owner)) await deps.applier.deleteOwned(services, key, { live: service, owner });
};

/** Judges what runs of the version, from the caches. */
export const observeWorkload = (version: FunctionVersion, deps: VersionDeps): Availability => {
  const { uid = "" } = version.metadata;
  const key = workloadKeyOf(version);
  const live = deps.caches.deployments.get(formatKey(key));
  const deployment = live && isOwnedBy(live, ownerOf(version)) ? live : undefined;
  const pods = deps.caches.pods
    .byIndex("versionUid", uid)
    .filter(({ metadata }) => metadata.namespace === key.namespace);
  return judgeWorkload({ version, deployment, pods, now: deps.clock.now(), startSeconds: deps.startSeconds });
};
