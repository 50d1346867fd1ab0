export {
  measurePaired,
  missesGoal,
  ratioInterval,
  type BenchResult,
  type Measurement,
  type PairedBench,
} from "./bench.js";
