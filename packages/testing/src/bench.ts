/** What one benchmark has to say; `pnpm bench --json` prints one a line. */
export interface BenchResult {
  /** Stable name, as `pnpm bench NAME` takes it. */
  name: string;
  /** Ratio ours / theirs: the geometric mean over the pairs. */
  value: number;
  /** 95 % confidence interval of `value`. */
  low: number;
  high: number;
  goal: number;
  better: "lower" | "higher";
  /** Pairs measured. */
  runs: number;
  /** What `theirs` is, in words. */
  against: string;
}

export interface PairedBench {
  name: string;
  against: string;
  goal: number;
  better: "lower" | "higher";
  /** Pairs to measure; at least 2. */
  runs: number;
  /** Pairs run beforehand and thrown away (caches, JIT). Default 1. */
  warmup?: number;
  /** One measurement in any unit (milliseconds, calls per CPU-second); without a number its wall time counts. */
  ours: Measurement;
  theirs: Measurement;
}

/** Receives the pair's index; resolves to the measured quantity, or to nothing to have its wall time taken. */
export type Measurement = (pair: number) => Promise<number | void>;

/**
 * Measures two programs in interleaved pairs and compares them by ratio. Which of the two goes first alternates, so
 * that drift of a shared machine (caches, frequency, neighbours) hits both alike.
 *
 * @returns the geometric mean of the ratios with a 95 % Student interval on their logarithms
 * @throws RangeError when fewer than 2 runs are asked for or a measurement is not a positive number
 */
export async function measurePaired(bench: PairedBench): Promise<BenchResult> {
  if (bench.runs < 2) throw new RangeError(`${bench.name}: an interval needs at least 2 runs, got ${bench.runs}`);
  for (let pair = 0; pair < (bench.warmup ?? 1); pair++) await measurePair(bench, pair);
  const ratios: number[] = [];
  for (let pair = 0; pair < bench.runs; pair++) ratios.push(await measurePair(bench, pair));
  const { name, goal, better, runs, against } = bench;
  return { name, ...ratioInterval(ratios), goal, better, runs, against };
}

/** True when the whole interval lies beyond the goal: only then is a goal missed. */
export function missesGoal(result: BenchResult): boolean {
  return result.better === "lower" ? result.low > result.goal : result.high < result.goal;
}

/**
 * Geometric mean of ratios with the 95 % interval of Student's t on their logarithms.
 *
 * @param ratios at least two positive numbers
 */
export function ratioInterval(ratios: readonly number[]): { value: number; low: number; high: number } {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const margin = studentT95(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { value: Math.exp(mean), low: Math.exp(mean - margin), high: Math.exp(mean + margin) };
}

async function measurePair(bench: PairedBench, pair: number): Promise<number> {
  const oursFirst = pair % 2 === 0;
  const first = await take(oursFirst ? bench.ours : bench.theirs, pair, bench.name);
  const second = await take(oursFirst ? bench.theirs : bench.ours, pair, bench.name);
  return oursFirst ? first / second : second / first;
}

async function take(measurement: Measurement, pair: number, name: string): Promise<number> {
  const start = performance.now();
  const measured = (await measurement(pair)) ?? performance.now() - start;
  if (!(measured > 0 && Number.isFinite(measured)))
    throw new RangeError(`${name}: a measurement must be a positive number, got ${measured}`);
  return measured;
}

/** Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom (any statistics table). */
const STUDENT_T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const NORMAL_95 = 1.96;

function studentT95(degreesOfFreedom: number): number {
  return STUDENT_T_95[degreesOfFreedom - 1] ?? NORMAL_95;
}
