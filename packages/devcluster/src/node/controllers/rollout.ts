import type { Deployment, ReplicaSet } from "../objects.js";

/** How many replicas each set shall have next. */
export type ScalePlan = Map<ReplicaSet, number>;

const wanted = (set: ReplicaSet): number => set.spec.replicas ?? 1;
const available = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0;
const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

const resolve = (value: number | string | undefined, total: number, round: (n: number) => number): number => {
  if (typeof value === "number") return value;
  const percent = /^(\d{1,6})%$/.exec(value ?? "25%")?.[1];
  return round((Number(percent ?? 25) * total) / 100);
};

/** Surge rounds up, unavailability down; both zero would stand still for ever. */
export const rollingBounds = ({ spec }: Deployment): { surge: number; unavailable: number } => {
  const replicas = spec.replicas ?? 1;
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {};
  const surge = resolve(maxSurge, replicas, Math.ceil);
  const unavailable = Math.min(resolve(maxUnavailable, replicas, Math.floor), replicas);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
};

const scaleUpNew = (deployment: Deployment, current: ReplicaSet, all: readonly ReplicaSet[]): number => {
  const replicas = deployment.spec.replicas ?? 1;
  if (wanted(current) >= replicas) return replicas;
  const room = replicas + rollingBounds(deployment).surge - sum(all, wanted);
  return wanted(current) + Math.max(0, Math.min(room, replicas - wanted(current)));
};

/** Takes from old sets what does not serve anyway. */
const dropUnhealthy = (old: readonly ReplicaSet[], limit: number): ScalePlan => {
  const plan: ScalePlan = new Map();
  let left = limit;
  for (const set of old) {
    const drop = Math.min(left, Math.max(0, wanted(set) - available(set)));
    left -= drop;
    if (drop > 0) plan.set(set, wanted(set) - drop);
  }
  return plan;
};

const scaleDownOld = (deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): ScalePlan => {
  const replicas = deployment.spec.replicas ?? 1;
  const minAvailable = replicas - rollingBounds(deployment).unavailable;
  const missingInNew = wanted(current) - available(current);
  const limit = sum(old, wanted) + wanted(current) - minAvailable - missingInNew;
  if (limit <= 0) return new Map();
  const plan = dropUnhealthy(old, limit);
  let spare = sum(old, available) + available(current) - minAvailable;
  for (const set of old) {
    const planned = plan.get(set) ?? wanted(set);
    const drop = Math.min(Math.max(0, spare), planned);
    spare -= drop;
    if (drop > 0) plan.set(set, planned - drop);
  }
  return plan;
};

/**
 * The next step of a rolling update by the rules of the Deployment controller: first up within maxSurge, then down
 * within maxUnavailable. `old` is oldest first. The same state gives the same plan.
 */
export const planRollingUpdate = (
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[],
): ScalePlan => {
  const up = scaleUpNew(deployment, current, [current, ...old]);
  if (up !== wanted(current)) return new Map([[current, up]]);
  return scaleDownOld(deployment, current, old);
};

const zeroed = (sets: readonly ReplicaSet[]): ScalePlan => {
  const plan: ScalePlan = new Map();
  for (const set of sets) plan.set(set, 0);
  return plan;
};

/** All old pods go before the first new one comes. */
export const planRecreate = (
  deployment: Deployment,
  current: ReplicaSet,
  { old, oldPodsLeft }: { old: readonly ReplicaSet[]; oldPodsLeft: boolean },
): ScalePlan => {
  const running = old.filter((set) => wanted(set) > 0);
  if (running.length > 0) return zeroed(running);
  const replicas = deployment.spec.replicas ?? 1;
  const plan: ScalePlan = new Map();
  if (!oldPodsLeft && wanted(current) !== replicas) plan.set(current, replicas);
  return plan;
};
