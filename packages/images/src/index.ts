export { CodeRejected, type CodeFault } from "./code/errors.js";
export { DEFAULT_CODE_LIMITS, type CodeLimits } from "./code/limits.js";
export type { CodeDirectory, CodeEntry, CodeFile, CodeSymlink, CodeWarning } from "./code/entry.js";
export type { CodeLayer, CodeSummary } from "./layer/layer-from-zip.js";
export { CODE_ROOT } from "./layer/tar-header.js";
export { createLayerPool, type LayerPool, type LayerPoolOptions, type TaskOptions } from "./pool/layer-pool.js";
export { LayerPoolBusy, LayerPoolClosed, LayerPoolError, LayerTimeout, LayerWorkerDied } from "./pool/errors.js";
export {
  DEFAULT_REGISTRY_TIMEOUTS,
  type RegistryConfig,
  type RegistryCredentials,
  type RegistryTimeouts,
} from "./registry/config.js";
export { createRegistryClient, type RegistryClient } from "./registry/client.js";
export type { BlobIdentity, BlobSource } from "./registry/upload-blob.js";
export type { Manifest } from "./registry/manifests.js";
export {
  RegistryDenied,
  RegistryError,
  RegistryLied,
  RegistryNotFound,
  RegistryRefused,
  RegistryUnavailable,
} from "./registry/errors.js";
export { formatImageReference, isDigest, parseImageReference, type ImageReference } from "./registry/reference.js";
export { MEDIA_TYPES } from "./registry/documents.js";
export { ArtifactMismatch, BaseImageUnusable, BuildRejected } from "./build/errors.js";
export { createLayersStrategy, type LayersStrategyOptions } from "./build/layers-strategy.js";
export type {
  BuildContext,
  BuildRequest,
  BuildResult,
  BuildStrategy,
  BuiltLayer,
  DependencyInstaller,
  DependencyLayer,
  DependencyManifest,
  InstallRequest,
  Platform,
} from "./build/strategy.js";
export { digestOfFolder } from "./pack/folder-digest.js";
export { IGNORE_FILE } from "./pack/ignore-rules.js";
export { packFolder, type PackedFolder } from "./pack/pack-folder.js";
export { zipFolder } from "./pack/zip-folder.js";
