export { DEFAULT_TIMEOUTS, type ArtifactStoreConfig, type ArtifactTimeouts } from "./config.js";
export { ArtifactError, ArtifactNotFound, ArtifactStoreRefused, ArtifactStoreUnavailable } from "./errors.js";
export type { DeleteFailure, DeleteReport } from "./delete-many.js";
export type { ArtifactBody } from "./put.js";
export {
  createArtifactStore,
  type ArtifactInfo,
  type ArtifactStore,
  type CallOptions,
  type PresignOptions,
  type PresignPutOptions,
} from "./store.js";
