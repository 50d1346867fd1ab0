import type { ActiveTarget, Function, FunctionVersion } from "@sless/contracts";
import { sameJson } from "../same-json.js";
import { problem, type Problem } from "../status/condition-set.js";
import { hasGivenUp, lastingFailure, unreadiness } from "./failures.js";
import { makeActiveTarget, type Target } from "./targets.js";
import { readyNow } from "./versions.js";

/** What one turn of the Function's reconcile decides about traffic and capacity. */
export interface TrafficPlan {
  /** What `status.traffic` shall say after this turn. */
  readonly traffic: readonly ActiveTarget[];
  /** Instances that each version shall run, by the version's name. */
  readonly replicas: ReadonlyMap<string, number>;
  /** Why the wanted targets do not all take their calls yet. */
  readonly blocked: Problem | undefined;
}

export interface TrafficInput {
  readonly fn: Function;
  /** Own versions, newest first. */
  readonly versions: readonly FunctionVersion[];
  /** What takes calls now. */
  readonly active: readonly Target[];
  /** What shall take calls. */
  readonly wanted: readonly Target[];
  /** Every live gateway has followed to what takes calls now. */
  readonly acknowledged: boolean;
  readonly retry: boolean;
}

const sameVersion = (a: FunctionVersion, b: FunctionVersion): boolean => a.metadata.uid === b.metadata.uid;

const findTarget = (targets: readonly Target[], version: FunctionVersion): Target | undefined =>
  targets.find((target) => sameVersion(target.version, version));

/** Instances that answer, of a version that takes calls: Kubernetes does not count those that go either. */
const serving = ({ version }: Target): number => version.status?.readyReplicas ?? 0;

const servingInAll = (active: readonly Target[]): number => active.reduce((sum, target) => sum + serving(target), 0);

/**
 * Ready instances that a target needs before it takes its share: as many as answer that share now, at least one. A
 * share that does not grow needs no more than it has.
 */
const neededFor = (target: Target, { active }: TrafficInput): number => {
  const before = findTarget(active, target.version);
  if (before && before.percent >= target.percent) return 1;
  return Math.max(1, Math.ceil((target.percent * servingInAll(active)) / 100));
};

const isReadyFor = (target: Target, input: TrafficInput): boolean => {
  const ready = findTarget(input.active, target.version) ? serving(target) : readyNow(target.version);
  return ready >= neededFor(target, input);
};

/** A target whose missing instances a quota refuses. */
const isRefusedByQuota = (target: Target): boolean => lastingFailure(target.version)?.reason === "QuotaExceeded";

/**
 * The one serving version that gives an instance up to make room (QuotaSurge): never its last one, only once its earlier
 * step has settled, and only as long as old and new together hold what the new one shall have.
 */
const versionThatYields = (input: TrafficInput, short: readonly Target[]): FunctionVersion | undefined => {
  const refused = short.find(isRefusedByQuota)?.version;
  if (!refused) return undefined;
  const leaving = input.active.filter(({ version }) => !findTarget(input.wanted, version));
  return leaving.find((target) => {
    const { replicas } = target.version.spec;
    return replicas > 1 && serving(target) === replicas && replicas + readyNow(refused) >= refused.spec.replicas;
  })?.version;
};

/** Instances of a version that shall take calls. */
const wantedReplicas = (target: Target, input: TrafficInput, moving: boolean): number => {
  const { version } = target;
  const { min } = input.fn.spec.scale;
  if (!moving) return min;
  if (!findTarget(input.active, version) && !input.retry && hasGivenUp(version)) return 0;
  // What was granted once is kept until traffic has moved, although the old version may shrink meanwhile.
  return Math.max(min, neededFor(target, input), version.spec.replicas);
};

/** Instances that must stay because a gateway may still send calls there. */
const keptReplicas = (version: FunctionVersion, input: TrafficInput, moving: boolean): number => {
  if (!input.acknowledged) return version.spec.replicas;
  return moving && findTarget(input.active, version) ? Math.max(1, version.spec.replicas) : 0;
};

const planReplicas = (
  input: TrafficInput,
  moving: boolean,
  yields: FunctionVersion | undefined,
): ReadonlyMap<string, number> =>
  new Map(
    input.versions.map((version) => {
      const target = findTarget(input.wanted, version);
      const wanted = target ? wantedReplicas(target, input, moving) : 0;
      const kept = keptReplicas(version, input, moving);
      return [version.metadata.name, version === yields ? kept - 1 : Math.max(wanted, kept)];
    }),
  );

/** True while serving versions can still make room, one instance at a time. */
const isSurging = (input: TrafficInput, short: readonly Target[]): boolean =>
  short.some(isRefusedByQuota) &&
  input.active.some(({ version }) => !findTarget(input.wanted, version) && version.spec.replicas > 1);

/** Why a wanted target is not ready. */
const explain = (target: Target, surging: boolean): Problem => {
  const { version } = target;
  const why = unreadiness(version) ?? problem("Starting", `version ${version.spec.version} is starting`);
  if (!surging) return why;
  return problem("QuotaSurge", `moving step by step, since the quota has no room for both: ${why.message}`);
};

/** The targets as they stand in `status.traffic`; equal ones mean that there is nothing to move. */
export const makeTraffic = (fn: Function, targets: readonly Target[]): ActiveTarget[] =>
  targets.map((target) => makeActiveTarget(target, fn.spec.scale.concurrency));

/**
 * Decides whether traffic moves, and how many instances each version runs. A version takes traffic once its ready
 * instances are at least what answers that share now; the old one keeps its instances until every gateway has followed.
 */
export const planTraffic = (input: TrafficInput): TrafficPlan => {
  const { fn, active, wanted } = input;
  const now = makeTraffic(fn, active);
  const next = makeTraffic(fn, wanted);
  const moving = !sameJson(now, next);
  const short = moving ? wanted.filter((target) => !isReadyFor(target, input)) : [];
  const yields = versionThatYields(input, short);
  const replicas = planReplicas(input, moving, yields);
  const first = short[0];
  if (first) return { traffic: now, replicas, blocked: explain(first, isSurging(input, short)) };
  return { traffic: next, replicas, blocked: moving ? problem("MovingTraffic", "traffic is moving") : undefined };
};
