import { FUNCTION_VERSIONS, type ActiveTarget } from "@sless/contracts";
import { objectKeyOf } from "@sless/kube";
import { liveGateways } from "../gateways/live-gateways.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import { isProblem } from "./code.js";
import { lastingFailure, unreadiness } from "./failures.js";
import { markNotReady, markReady, markTraffic } from "./status.js";
import { activeTargets, wantedTargets, type Target } from "./targets.js";
import { makeTraffic, planTraffic, type TrafficPlan } from "./traffic-plan.js";
import { wakeAfter, type FunctionTurn } from "./turn.js";

/** True once no gateway may send a call by older traffic than what the Function's status holds. */
const isAcknowledged = (turn: FunctionTurn, active: readonly ActiveTarget[]): boolean => {
  const { fn, key, deps } = turn;
  const { uid = "", resourceVersion = "0" } = fn.metadata;
  if (active.length === 0) return true;
  const traffic = JSON.stringify(active);
  if (isTrue(conditionOf(fn, "Ready"))) deps.acknowledgements.confirmed(uid, key, traffic);
  const now = deps.clock.now();
  const gateways = liveGateways(deps.caches.gatewayLeases.list(), deps.caches.reports.list(), now);
  const answer = deps.acknowledgements.check(uid, key, { traffic, resourceVersion, gateways });
  if (answer.recheckAt !== undefined) wakeAfter(turn, Math.max(1, answer.recheckAt - now));
  if (!answer.acknowledged) {
    const awaited = answer.awaited.slice(0, 5).join(", ");
    markNotReady(turn.draft, problem("MovingTraffic", `these gateways still have to follow: ${awaited}`));
  }
  return answer.acknowledged;
};

const scaleVersions = async ({ versions, deps }: FunctionTurn, plan: TrafficPlan): Promise<void> => {
  for (const version of versions) {
    const replicas = plan.replicas.get(version.metadata.name);
    if (replicas === undefined || replicas === version.spec.replicas) continue;
    const { uid, resourceVersion } = version.metadata;
    const key = objectKeyOf(version);
    await deps.client.mergePatch(FUNCTION_VERSIONS, key, { spec: { replicas } }, { uid, resourceVersion });
  }
};

/** A newest version that was given up: what answers is not what was last written. */
const leftBehind = ({ fn, versions }: FunctionTurn, wanted: readonly Target[]): Problem | undefined => {
  const newest = versions[0];
  const isWanted = wanted.some(({ version }) => version === newest);
  return newest && !fn.spec.traffic && !isWanted ? unreadiness(newest) : undefined;
};

/** A target that lacks instances for a reason that lasts: calls are answered, and yet not as was asked for. */
const lastingShortage = ({ fn, versions, draft }: FunctionTurn): Problem | undefined =>
  versions
    .filter(({ metadata }) => draft.traffic.some(({ uid }) => uid === metadata.uid))
    .filter(({ status }) => (status?.readyReplicas ?? 0) < fn.spec.scale.min)
    .map(lastingFailure)
    .find((why) => why !== undefined);

const silence = ({ draft }: FunctionTurn): Problem | undefined => {
  const { Serving } = draft.verdicts;
  return Serving?.status === "False" ? problem(Serving.reason, Serving.message) : undefined;
};

/** Moves traffic and capacity towards what is wanted, and says why what was last written does not answer yet. */
export const reconcileTraffic = async (turn: FunctionTurn): Promise<void> => {
  const { fn, versions, draft } = turn;
  const active = activeTargets(fn, versions);
  const retry = fn.status?.observedGeneration !== fn.metadata.generation;
  const wanted = wantedTargets({ fn, versions, active, retry });
  const acknowledged = isAcknowledged(turn, makeTraffic(fn, active));
  if (isProblem(wanted)) {
    markNotReady(draft, wanted);
    markTraffic(draft, makeTraffic(fn, active), versions);
    return;
  }
  const plan = planTraffic({ fn, versions, active, wanted, acknowledged, retry });
  await scaleVersions(turn, plan);
  markTraffic(draft, plan.traffic, versions);
  const why = plan.blocked ?? leftBehind(turn, wanted) ?? lastingShortage(turn) ?? silence(turn);
  if (why) markNotReady(draft, why);
  else markReady(draft);
};

/** Leaves traffic as it is, without what is not this Function's. */
export const keepTraffic = ({ fn, versions, draft }: FunctionTurn): void =>
  markTraffic(draft, makeTraffic(fn, activeTargets(fn, versions)), versions);
