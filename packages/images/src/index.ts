export { CodeRejected, type CodeFault } from "./code/errors.js";
export { DEFAULT_CODE_LIMITS, type CodeLimits } from "./code/limits.js";
export type { CodeDirectory, CodeEntry, CodeFile, CodeSymlink, CodeWarning } from "./code/entry.js";
export type { CodeLayer, CodeSummary } from "./layer/layer-from-zip.js";
export { CODE_ROOT } from "./layer/tar-header.js";
export { createLayerPool, type LayerPool, type LayerPoolOptions, type TaskOptions } from "./pool/layer-pool.js";
export { LayerPoolBusy, LayerPoolClosed, LayerPoolError, LayerTimeout, LayerWorkerDied } from "./pool/errors.js";
