import { FUNCTIONS, type Function } from "@sless/contracts";
import { ConflictError, done, NotLeadingError, requeueAfter, type Reconcile, type ReconcileResult } from "@sless/kube";
import { ensureFinalizer } from "../finalizers.js";
import { conditionOf, isTrue, problem } from "../status/condition-set.js";
import { parseFunctionSpec, isProblem, tenantProblem } from "./code.js";
import { finalizeFunction } from "./finalize.js";
import { keepTraffic, reconcileTraffic } from "./reconcile-traffic.js";
import { pruneVersions, reconcileVersion } from "./reconcile-version.js";
import { createFunctionDraft, makeFunctionStatus, markNotReady, markUrl, markVersions } from "./status.js";
import type { FunctionDeps, FunctionTurn } from "./turn.js";
import { ownVersions } from "./versions.js";

const startTurn = (key: string, fn: Function, deps: FunctionDeps): FunctionTurn => {
  const candidates = deps.caches.versions.byIndex("functionUid", fn.metadata.uid ?? "");
  const versions = ownVersions(fn, candidates).filter(({ metadata }) => !metadata.deletionTimestamp);
  return { key, fn, versions, draft: createFunctionDraft(fn), deps };
};

/** The ordered steps of one turn. */
const runSteps = async (turn: FunctionTurn): Promise<void> => {
  const { fn, deps, draft, versions, key } = turn;
  const namespace = fn.metadata.namespace ?? "";
  markVersions(draft, versions);
  markUrl(draft, deps.caches.triggers.byIndex("function", key));
  const spec = parseFunctionSpec(fn);
  const why = isProblem(spec) ? spec : tenantProblem(deps.caches.tenants.get(namespace), namespace);
  if (isProblem(spec) || why) {
    if (why) markNotReady(draft, why);
    return;
  }
  const checked: FunctionTurn = { ...turn, fn: { ...fn, spec } };
  const outcome = await reconcileVersion(checked);
  if (outcome === "created") keepTraffic(checked);
  else await reconcileTraffic(checked);
  await pruneVersions(checked);
  turn.wakeAfterMs = checked.wakeAfterMs;
};

/** Failures that say nothing about the Function: a newer object is on its way, or another process leads. */
const isOurs = (error: unknown): boolean => error instanceof ConflictError || error instanceof NotLeadingError;

const markFailure = (turn: FunctionTurn, error: unknown): void => {
  const message = error instanceof Error ? error.message : String(error);
  if (isTrue(conditionOf(turn.fn, "Ready"))) return;
  markNotReady(turn.draft, problem("InternalError", `will be tried again: ${message}`));
};

/** Writes the status; a move of traffic awaits the gateways from this write on. */
const finishTurn = async ({ key, fn, draft, deps }: FunctionTurn): Promise<void> => {
  const status = makeFunctionStatus(fn, draft, new Date(deps.clock.now()).toISOString());
  const before = JSON.stringify(fn.status?.traffic ?? []);
  const written = await deps.writeStatus(FUNCTIONS, fn, status);
  const traffic = JSON.stringify(status.traffic ?? []);
  if (traffic === before) return;
  const { uid = "", resourceVersion = "0" } = written.metadata;
  deps.acknowledgements.moved(uid, key, { traffic, resourceVersion });
};

/**
 * Reconciles one Function: its versions, who of them takes calls, and what its conditions say. The status is written
 * once at the end, also when a step failed.
 */
export const createFunctionReconcile =
  (deps: FunctionDeps & { readonly client: FunctionDeps["client"] }): Reconcile =>
  async (key, { signal }): Promise<ReconcileResult> => {
    const cached = deps.caches.functions.get(key);
    if (!cached) return done();
    if (cached.metadata.deletionTimestamp) return finalizeFunction(key, structuredClone(cached), deps, signal);
    const fn = await ensureFinalizer(deps.client, FUNCTIONS, structuredClone(cached));
    const turn = startTurn(key, fn, deps);
    try {
      await runSteps(turn);
    } catch (error) {
      if (isOurs(error)) throw error;
      markFailure(turn, error);
      await finishTurn(turn);
      throw error;
    }
    await finishTurn(turn);
    return turn.wakeAfterMs === undefined ? done() : requeueAfter(turn.wakeAfterMs);
  };
