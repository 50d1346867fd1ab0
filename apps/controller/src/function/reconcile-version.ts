import { FUNCTION_VERSIONS, type FunctionVersion, type RuntimeEntry } from "@sless/contracts";
import { AlreadyExistsError, ForbiddenError, NotFoundError, objectKeyOf, type KubeClient } from "@sless/kube";
import { problem } from "../status/condition-set.js";
import { findCode, findRuntime, isProblem } from "./code.js";
import { makeVersion } from "./resources/version.js";
import { markCode, markNotReady } from "./status.js";
import { wakeAfter, type FunctionTurn } from "./turn.js";
import { planVersion, versionsToPrune } from "./version-plan.js";
import { contentOf, type Content } from "./versions.js";

interface Asked {
  readonly content: Content;
  readonly runtime: RuntimeEntry;
}

/** What the spec asks for; undefined, and marked why, when it can't be built. */
const findAsked = ({ fn, draft, deps }: FunctionTurn): Asked | undefined => {
  const code = findCode(fn);
  const runtime = findRuntime(fn.spec.runtime, deps.runtimes);
  markCode(draft, code);
  if (!isProblem(code) && !isProblem(runtime)) return { content: contentOf(fn.spec, code.digest), runtime };
  for (const why of [code, runtime]) if (isProblem(why)) markNotReady(draft, why);
  return undefined;
};

/** Deletes the very version that was looked at; its finalizer ends its build and removes its workload. */
export const removeVersion = async (client: Pick<KubeClient, "delete">, version: FunctionVersion): Promise<void> => {
  if (version.metadata.deletionTimestamp) return;
  try {
    await client.delete(FUNCTION_VERSIONS, objectKeyOf(version), { uid: version.metadata.uid });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
};

/** Creates a version. Its name is the atomic step, so that a cache which lags makes none twice. */
const createVersion = async (turn: FunctionTurn, version: FunctionVersion): Promise<void> => {
  const { draft, deps } = turn;
  try {
    await deps.client.create(FUNCTION_VERSIONS, version);
  } catch (error) {
    if (error instanceof ForbiddenError && error.isQuotaExceeded) {
      return markNotReady(draft, problem("QuotaExceeded", error.status.message));
    }
    if (!(error instanceof AlreadyExistsError)) throw error;
  }
  draft.latestVersion = version.spec.version;
  draft.codeDigest = version.spec.codeDigest;
  markNotReady(draft, problem("Building", `version ${version.spec.version} is new`));
};

export type VersionOutcome = "exists" | "created" | "blocked";

/** Makes the version exist that the spec asks for, at most one of them pending. */
export const reconcileVersion = async (turn: FunctionTurn): Promise<VersionOutcome> => {
  const asked = findAsked(turn);
  if (!asked) return "blocked";
  const { fn, versions, deps } = turn;
  const plan = planVersion(fn, versions, asked.content, deps.clock.now());
  if (plan.kind === "exists") return "exists";
  const waitMs = plan.kind === "wait" ? plan.afterMs : deps.pace.take(fn.metadata.uid ?? "");
  if (plan.kind === "wait" || waitMs > 0) {
    wakeAfter(turn, waitMs);
    markNotReady(turn.draft, problem("Pending", "the settings change quickly; the next version is made in a moment"));
    return "blocked";
  }
  const replicas = fn.spec.traffic ? 0 : fn.spec.scale.min;
  const { installation } = deps;
  await createVersion(turn, makeVersion({ fn, number: plan.number, ...asked, replicas, installation }));
  for (const version of plan.superseded) await removeVersion(deps.client, version);
  return "created";
};

/** Removes the versions that `keepVersions` leaves no room for. */
export const pruneVersions = async ({ fn, versions, deps }: FunctionTurn): Promise<void> => {
  for (const version of versionsToPrune(fn, versions)) await removeVersion(deps.client, version);
};
