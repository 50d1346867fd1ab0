import type { CodeFault } from "../code/errors.js";
import type { CodeLimits } from "../code/limits.js";
import type { CodeLayer, CodeSummary } from "../layer/layer-from-zip.js";

/** What a worker can do, by name: what goes in and what comes out. */
export interface LayerTasks {
  layerFromZip: { input: { zip: string; out: string; limits: CodeLimits }; output: CodeLayer };
  digestOfZip: { input: { zip: string; limits: CodeLimits }; output: { codeDigest: string } & CodeSummary };
  inspectZip: { input: { zip: string; limits: CodeLimits }; output: CodeSummary };
}

export type TaskName = keyof LayerTasks;

export type WorkerRequest = { [Name in TaskName]: { task: Name; input: LayerTasks[Name]["input"] } }[TaskName];

export type WorkerAnswer =
  | { outcome: "done"; output: LayerTasks[TaskName]["output"] }
  /** Class instances do not survive the way between threads. */
  | { outcome: "rejected"; fault: CodeFault; message: string; path: string | undefined }
  | { outcome: "failed"; message: string };
