import {
  digestOfArtifactKey,
  type ActiveTarget,
  type Function,
  type FunctionBody,
  type FunctionSettings,
  type Build,
  type FunctionSpec,
  type FunctionStatus,
  type FunctionVersion,
  type FunctionVersionStatus,
  type TrafficTarget,
  type VersionBody,
} from "@sless/contracts";
import { present, toMetaBody } from "../resources/dto.js";
import { pinOf } from "./pin.js";

type TrafficShare = FunctionBody["status"]["traffic"][number];

const toShare = ({ version, percent, tag }: TrafficTarget | ActiveTarget): TrafficShare => ({
  version,
  percent,
  ...(tag !== undefined && { tag }),
});

/** Digest of the code that a function names, if its key is the platform's own for it. */
export const codeDigestOf = ({ metadata, spec }: Function): string | undefined =>
  spec.s3Key === undefined ? undefined : digestOfArtifactKey(spec.s3Key, metadata.namespace ?? "", metadata.uid ?? "");

const NO_STATUS: FunctionStatus = {};

const toStatusBody = (status: FunctionStatus): FunctionBody["status"] => ({
  phase: status.phase ?? "Pending",
  message: status.message ?? "",
  conditions: status.conditions ?? [],
  traffic: (status.traffic ?? []).map(toShare),
  ...present({
    observed_generation: status.observedGeneration,
    latest_version: status.latestVersion,
    ready_version: status.readyVersion,
    url: status.url,
  }),
});

/** A Function as the REST API answers it. */
export const toFunctionBody = (fn: Function): FunctionBody => ({
  ...toMetaBody(fn.metadata),
  ...toSettings(fn.spec),
  ...present({ code_digest: codeDigestOf(fn) }),
  status: toStatusBody(fn.status ?? NO_STATUS),
});

/** Settings of a Function in the form of a PUT's body: what a PATCH is merged into. */
export const toSettings = (spec: FunctionSpec): Omit<FunctionSettings, "code_digest"> => ({
  runtime: spec.runtime,
  entrypoint: spec.entrypoint,
  memory_mb: spec.memoryMB,
  timeout_sec: spec.timeoutSec,
  env_vars: spec.env ?? {},
  scale: { min: spec.scale.min, concurrency: spec.scale.concurrency },
  keep_versions: spec.keepVersions,
  ...(spec.traffic !== undefined && { traffic: spec.traffic.map(toShare) }),
});

/** The spec that settings ask for; where the code lies is not among them. */
export const toSpec = (settings: FunctionSettings): FunctionSpec => ({
  runtime: settings.runtime,
  entrypoint: settings.entrypoint,
  memoryMB: settings.memory_mb,
  timeoutSec: settings.timeout_sec,
  env: settings.env_vars,
  scale: settings.scale,
  keepVersions: settings.keep_versions,
  ...(settings.traffic !== undefined && { traffic: settings.traffic }),
});

const toBuildBody = ({ strategy, startedAt, seconds }: Build): NonNullable<VersionBody["build"]> => ({
  strategy,
  startedAt,
  ...(seconds !== undefined && { seconds }),
});

const toVersionStatus = (status: FunctionVersionStatus) => ({
  phase: status.phase ?? "Pending",
  message: status.message ?? "",
  conditions: status.conditions ?? [],
  ...present({ image: status.image, build: status.build && toBuildBody(status.build) }),
});

/** A FunctionVersion with the share of calls that its function gives it. */
export const toVersionBody = ({ metadata, spec, status }: FunctionVersion, fn: Function): VersionBody => {
  const targets = (fn.status?.traffic ?? []).filter(({ uid }) => uid === metadata.uid);
  const pinned = pinOf(fn, spec.version);
  return {
    version: spec.version,
    name: metadata.name,
    created_at: metadata.creationTimestamp ?? "",
    code_digest: spec.codeDigest,
    runtime: spec.runtime,
    entrypoint: spec.entrypoint,
    memory_mb: spec.memoryMB,
    timeout_sec: spec.timeoutSec,
    ...toVersionStatus(status ?? {}),
    percent: targets.reduce((sum, { percent }) => sum + percent, 0),
    tags: targets.flatMap(({ tag }) => tag ?? []),
    ...(pinned && { pinned }),
  };
};
