import { FUNCTION_VERSIONS, LABELS, type Function, type FunctionVersion } from "@sless/contracts";
import { listAll, type KubeClient } from "@sless/kube";
import { Conflict, invalidField } from "../errors.js";
import type { Change, ItemKey, Items, WriteIntent } from "../resources/items.js";
import { makePinMarks } from "./pin.js";

export interface Versions {
  /** A function's versions, newest first. */
  list(fn: Function): Promise<FunctionVersion[]>;
  /** Sends all calls to an older version until the code changes. Without a number: to the last good one before. */
  rollback(key: ItemKey, request: RollbackInput, intent: WriteIntent): Promise<RollbackOutcome>;
}

export interface RollbackInput {
  readonly version?: number | undefined;
  readonly reason?: string | undefined;
  /** Who asks, for the mark on the function. */
  readonly by: string;
}

export interface RollbackOutcome {
  /** The version that took most calls before. */
  readonly from: number | undefined;
  readonly to: number;
  readonly fn: Function;
}

/** Versions that are, or were, ready: their image is there and their code has started once. */
const isProven = ({ status }: FunctionVersion): boolean => status?.phase === "Ready" || status?.phase === "ScaledDown";

/** The version that takes most calls now. */
const servingVersion = (fn: Function): number | undefined =>
  [...(fn.status?.traffic ?? [])].sort((a, b) => b.percent - a.percent)[0]?.version;

const describe = (versions: readonly FunctionVersion[]): string =>
  versions.map(({ spec }) => spec.version).join(", ") || "none";

const pickNamed = (versions: readonly FunctionVersion[], wanted: number): number => {
  const found = versions.find(({ spec }) => spec.version === wanted);
  if (!found) throw invalidField("/version", `names ${wanted}, which is not kept. Kept are: ${describe(versions)}`);
  if (isProven(found)) return wanted;
  const message = found.status?.message ?? "";
  throw new Conflict(
    `Version ${wanted} is not ready (${found.status?.phase ?? "Pending"}). ${message}`.trim(),
    "NotServing",
  );
};

const pickBefore = (versions: readonly FunctionVersion[], serving: number | undefined): number => {
  const proven = versions.filter(isProven).map(({ spec }) => spec.version);
  const target = serving === undefined ? proven[0] : proven.find((version) => version < serving);
  if (target === undefined) {
    throw new Conflict("There is no older version that was ready: nothing to roll back to.", "VersionNotFound");
  }
  return target;
};

const makeRollback = (to: number, { by, reason }: RollbackInput): Change => ({
  patch: { metadata: makePinMarks(by, reason), spec: { traffic: [{ version: to, percent: 100 }] } },
  // Exact, so that two at once do not each take a step back.
  exact: true,
});

export const createVersions = (items: Items<Function>, kube: Pick<KubeClient, "list">): Versions => {
  const list = async (fn: Function): Promise<FunctionVersion[]> => {
    const { namespace, uid } = fn.metadata;
    const labelSelector = `${LABELS.functionUid}=${uid ?? ""}`;
    const { items: found } = await listAll(kube, FUNCTION_VERSIONS, { namespace, labelSelector });
    return found.filter(({ spec }) => spec.functionUid === uid).sort((a, b) => b.spec.version - a.spec.version);
  };

  return {
    list,
    rollback: async (key, request, intent) => {
      let outcome: Omit<RollbackOutcome, "fn"> | undefined;
      const fn = await items.change(key, intent, async (current) => {
        const versions = await list(current);
        const from = servingVersion(current);
        const to = request.version === undefined ? pickBefore(versions, from) : pickNamed(versions, request.version);
        outcome = { from, to };
        return makeRollback(to, request);
      });
      return { from: outcome?.from, to: outcome?.to ?? fn.spec.traffic?.[0]?.version ?? 0, fn };
    },
  };
};
