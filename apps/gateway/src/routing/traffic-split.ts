import type { ActiveTarget } from "@sless/contracts";

/** Chooses a version for each call of one function. */
export interface TrafficSplit {
  readonly targets: readonly ActiveTarget[];
  /** The version for the next call; undefined while none takes traffic. */
  next(): ActiveTarget | undefined;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/**
 * The order in which versions take turns: smooth weighted round robin, as nginx does it, so that a share of 20 is one
 * call in each five and not twenty in a row.
 */
const makeTurns = (targets: readonly ActiveTarget[]): ActiveTarget[] => {
  const shares = targets.filter(({ percent }) => percent > 0).map((target) => ({ target, due: 0 }));
  const divisor = shares.reduce((result, { target }) => greatestCommonDivisor(target.percent, result), 0);
  const total = shares.reduce((sum, { target }) => sum + target.percent, 0);
  return Array.from({ length: divisor === 0 ? 0 : total / divisor }, () => {
    for (const share of shares) share.due += share.target.percent;
    const chosen = shares.reduce((best, share) => (share.due > best.due ? share : best));
    chosen.due -= total;
    return chosen.target;
  });
};

/** Splits calls by percent, exactly over each window of at most 100 calls. */
export const createTrafficSplit = (targets: readonly ActiveTarget[]): TrafficSplit => {
  const turns = makeTurns(targets);
  let turn = -1;
  return {
    targets,
    next: () => turns[(turn = (turn + 1) % turns.length)],
  };
};
