export {
  measurePaired,
  missesGoal,
  ratioInterval,
  type BenchResult,
  type Measurement,
  type PairedBench,
} from "./bench.js";
export {
  aCondition,
  aFailedStatus,
  aFunction,
  aReadyStatus,
  aTarget,
  aTenant,
  aTrigger,
  aVersion,
  BASE_IMAGE,
  CODE_DIGEST,
  type VersionOverrides,
} from "./builders/custom-resources.js";
export { CREATED_AT, TENANT_HASH, TENANT_NAMESPACE, uidOf, type Overrides } from "./builders/metadata.js";
export {
  startFakeRegistry,
  type FakeRegistry,
  type Intercept,
  type SeenRequest,
  type StoredManifest,
} from "./fake-registry.js";
export { buildZip, type ZipPart } from "./zip-builder.js";
export { startFakeS3, type FakeS3, type FakeS3Options, type SeenS3Request } from "./fake-s3.js";
