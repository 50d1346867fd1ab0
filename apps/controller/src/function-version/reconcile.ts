import { FUNCTION_VERSIONS, LABELS, type Function, type FunctionVersion } from "@sless/contracts";
import { ConflictError, done, NotLeadingError, requeueAfter, type Reconcile, type ReconcileResult } from "@sless/kube";
import { ensureFinalizer } from "../finalizers.js";
import { tenantProblem } from "../function/code.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import type { VersionDeps } from "./deps.js";
import { finalizeVersion } from "./finalize.js";
import { readLastLines } from "./last-lines.js";
import { isImageSettled, reconcileImage } from "./reconcile-image.js";
import { applyWorkload, observeWorkload, removeRestingWorkload } from "./reconcile-workload.js";
import {
  createVersionDraft,
  makeVersionStatus,
  markBlocked,
  markLastLines,
  markWorkload,
  type VersionDraft,
} from "./status.js";

interface VersionTurn {
  readonly key: string;
  readonly version: FunctionVersion;
  readonly draft: VersionDraft;
  readonly deps: VersionDeps;
  readonly signal: AbortSignal;
}

/** The Function of a version: the very one whose uid the version carries in spec and label. */
const findFunction = ({ version, deps }: VersionTurn): Function | undefined => {
  const { namespace, labels } = version.metadata;
  const fn = deps.caches.functions.get(`${namespace}/${version.spec.functionName}`);
  const { uid } = fn?.metadata ?? {};
  const isOurs = uid === version.spec.functionUid && labels?.[LABELS.functionUid] === uid;
  return isOurs && !fn?.metadata.deletionTimestamp ? fn : undefined;
};

/** Runs the version: image, then workload. Answers after how many ms to look again, if time decides. */
const runVersion = async (turn: VersionTurn, fn: Function): Promise<number | undefined> => {
  const { key, version, draft, deps } = turn;
  const image = reconcileImage(key, version, draft, deps);
  const tenant = deps.caches.tenants.get(version.metadata.namespace ?? "");
  const blocked = tenantProblem(tenant, version.metadata.namespace ?? "");
  if (blocked) markBlocked(draft, blocked);
  const refused: Problem | undefined =
    image.kind === "built" && !blocked ? await applyWorkload(version, fn, image.image, deps) : undefined;
  if (refused) markBlocked(draft, refused);
  return image.kind === "failed" ? image.retryAfterMs : undefined;
};

/** Judges what runs. An image that nodes can't pull any more is built again, once per time that this begins. */
const observe = async ({ version, draft, deps, signal }: VersionTurn): Promise<number | undefined> => {
  const availability = observeWorkload(version, deps);
  markWorkload(draft, availability);
  if (availability.crashed) markLastLines(draft, await readLastLines(deps.client, availability.crashed, signal));
  const isNew = conditionOf(version, "Ready")?.reason !== "ImagePullFailed";
  if (draft.verdicts.Ready?.reason === "ImagePullFailed" && isNew) deps.builds.retry(version.metadata.uid ?? "");
  return availability.decideInMs;
};

const runSteps = async (turn: VersionTurn): Promise<number | undefined> => {
  const { version, draft, deps } = turn;
  const fn = findFunction(turn);
  if (!fn) {
    markBlocked(draft, problem("FunctionNotFound", `function ${version.spec.functionName} of this version is gone`));
    return undefined;
  }
  const retryMs = isImageSettled(version) ? undefined : await runVersion(turn, fn);
  if (version.spec.replicas === 0) await removeRestingWorkload(version, deps);
  const decideMs = await observe(turn);
  const waits = [retryMs, decideMs].filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(1, Math.min(...waits));
};

const finishTurn = async ({ version, draft, deps }: VersionTurn): Promise<void> => {
  const status = makeVersionStatus(version, draft, new Date(deps.clock.now()).toISOString());
  await deps.writeStatus(FUNCTION_VERSIONS, version, status);
};

const markFailure = ({ version, draft }: VersionTurn, error: unknown): void => {
  if (isTrue(conditionOf(version, "Ready"))) return;
  const message = error instanceof Error ? error.message : String(error);
  markBlocked(draft, problem("InternalError", `will be tried again: ${message}`));
};

/** Reconciles one version: its image, its Deployment and Service, and what its conditions say of them. */
export const createVersionReconcile =
  (deps: VersionDeps): Reconcile =>
  async (key, { signal }): Promise<ReconcileResult> => {
    const cached = deps.caches.versions.get(key);
    if (!cached) return done();
    if (cached.metadata.deletionTimestamp) return finalizeVersion(structuredClone(cached), deps, signal);
    const version = await ensureFinalizer(deps.client, FUNCTION_VERSIONS, structuredClone(cached));
    const turn: VersionTurn = { key, version, draft: createVersionDraft(version), deps, signal };
    let waitMs: number | undefined;
    try {
      waitMs = await runSteps(turn);
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotLeadingError) throw error;
      markFailure(turn, error);
      await finishTurn(turn);
      throw error;
    }
    await finishTurn(turn);
    return waitMs === undefined ? done() : requeueAfter(waitMs);
  };
