import { compare, type Comparison, type MeasuredServer } from "@sless/runtime-conformance/bench";
import { findPython, startRuntime } from "./servers.js";

/** Compares this runtime with a rival, or says as the benchmark's result that there is no Python 3.11 to do it with. */
export const compareRuntime = async (
  comparison: Omit<Comparison, "ours" | "theirs">,
  startRival: (python: string) => Promise<MeasuredServer>,
): Promise<void> => {
  const python = findPython();
  if (python === undefined) {
    const { name } = comparison;
    process.stdout.write(`${JSON.stringify({ name, skipped: "Python 3.11 is not on this machine" })}\n`);
    return;
  }
  await compare({ ...comparison, ours: () => startRuntime(python), theirs: () => startRival(python) });
};
