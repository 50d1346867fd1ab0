import { artifactPrefix, FUNCTIONS, isTenantNamespace, type Function } from "@sless/contracts";
import { done, requeueAfter, type ReconcileResult } from "@sless/kube";
import { releaseFinalizer } from "../finalizers.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import { removeVersion } from "./reconcile-version.js";
import { createFunctionDraft, makeFunctionStatus, markNotReady } from "./status.js";
import type { FunctionDeps } from "./turn.js";

/** A store that was away is asked again after this time; nothing announces its return. */
const RETRY_STORE_MS = 5_000;
const DELETE_BATCH = 1_000;

/** Removes the versions, whose own finalizers remove builds, workloads and images; says what is still awaited. */
const removeVersions = async (fn: Function, deps: FunctionDeps): Promise<Problem | undefined> => {
  const versions = deps.caches.versions
    .byIndex("functionUid", fn.metadata.uid ?? "")
    .filter(({ metadata }) => metadata.namespace === fn.metadata.namespace);
  for (const version of versions) await removeVersion(deps.client, version);
  if (versions.length === 0) return undefined;
  const stuck = versions
    .map((version) => conditionOf(version, "Ready"))
    .find((ready) => !isTrue(ready) && ready?.message);
  const detail = stuck ? `: ${stuck.message}` : "";
  return problem("Terminating", `removing ${versions.length} version(s)${detail}`);
};

/** Keys of the function's code, at most one batch of them. */
const listCode = async (prefix: string, { artifacts }: FunctionDeps, signal: AbortSignal): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of artifacts.list(prefix, { signal })) {
    if (keys.push(key) >= DELETE_BATCH) break;
  }
  return keys;
};

/** Removes the code, below this function's own prefix and nowhere else (security 3). */
const removeCode = async (fn: Function, deps: FunctionDeps, signal: AbortSignal): Promise<Problem | undefined> => {
  const { namespace = "", uid = "" } = fn.metadata;
  if (!isTenantNamespace(namespace) || uid === "") return undefined;
  try {
    const keys = await listCode(artifactPrefix(namespace, uid), deps, signal);
    if (keys.length === 0) return undefined;
    const { failed } = await deps.artifacts.deleteMany(keys, { signal });
    if (failed[0]) return problem("StoreUnavailable", `${failed.length} object(s) of code remain: ${failed[0].reason}`);
    return keys.length < DELETE_BATCH ? undefined : problem("Terminating", "removing code");
  } catch (error) {
    return problem("StoreUnavailable", `code could not be removed: ${String(error)}`);
  }
};

/**
 * Removes everything of a Function before it goes. What can't be removed now is retried and stands in the condition
 * (D22); nobody has to edit the finalizer by hand.
 */
export const finalizeFunction = async (
  key: string,
  fn: Function,
  deps: FunctionDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const versions = await removeVersions(fn, deps);
  const rest = versions ?? (await removeCode(fn, deps, signal));
  if (!rest) {
    deps.acknowledgements.forget(fn.metadata.uid ?? "");
    deps.pace.forget(fn.metadata.uid ?? "");
    await releaseFinalizer(deps.client, FUNCTIONS, fn);
    return done();
  }
  const draft = createFunctionDraft(fn);
  markNotReady(draft, rest);
  await deps.writeStatus(FUNCTIONS, fn, makeFunctionStatus(fn, draft, new Date(deps.clock.now()).toISOString()));
  return versions ? done() : requeueAfter(RETRY_STORE_MS);
};
