import {
  digestOfArtifactKey,
  type ActiveTarget,
  type Function,
  type FunctionBody,
  type FunctionSettings,
  type FunctionSpec,
  type FunctionVersion,
  type TrafficTarget,
  type VersionBody,
} from "@sless/contracts";

type TrafficShare = FunctionBody["status"]["traffic"][number];

const toShare = ({ version, percent, tag }: TrafficTarget | ActiveTarget): TrafficShare => ({
  version,
  percent,
  ...(tag !== undefined && { tag }),
});

/** Keeps the fields that have a value, as `exactOptionalPropertyTypes` asks. */
const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** Digest of the code that a function names, if its key is the platform's own for it. */
export const codeDigestOf = ({ metadata, spec }: Function): string | undefined =>
  spec.s3Key === undefined ? undefined : digestOfArtifactKey(spec.s3Key, metadata.namespace ?? "", metadata.uid ?? "");

const toStatusBody = (fn: Function): FunctionBody["status"] => ({
  phase: fn.status?.phase ?? "Pending",
  message: fn.status?.message ?? "",
  conditions: fn.status?.conditions ?? [],
  traffic: (fn.status?.traffic ?? []).map(toShare),
  ...present({
    observed_generation: fn.status?.observedGeneration,
    latest_version: fn.status?.latestVersion,
    ready_version: fn.status?.readyVersion,
    url: fn.status?.url,
  }),
});

/** A Function as the REST API answers it. */
export const toFunctionBody = (fn: Function): FunctionBody => ({
  name: fn.metadata.name,
  namespace: fn.metadata.namespace ?? "",
  uid: fn.metadata.uid ?? "",
  generation: fn.metadata.generation ?? 0,
  created_at: fn.metadata.creationTimestamp ?? "",
  runtime: fn.spec.runtime,
  entrypoint: fn.spec.entrypoint,
  memory_mb: fn.spec.memoryMB,
  timeout_sec: fn.spec.timeoutSec,
  env_vars: fn.spec.env ?? {},
  scale: { min: fn.spec.scale.min, concurrency: fn.spec.scale.concurrency },
  keep_versions: fn.spec.keepVersions,
  ...present({ traffic: fn.spec.traffic?.map(toShare), code_digest: codeDigestOf(fn) }),
  status: toStatusBody(fn),
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
  ...(spec.traffic !== undefined && { traffic: spec.traffic }),
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

const toBuildBody = (version: FunctionVersion): VersionBody["build"] => {
  const build = version.status?.build;
  return (
    build && {
      strategy: build.strategy,
      startedAt: build.startedAt,
      ...(build.seconds !== undefined && { seconds: build.seconds }),
    }
  );
};

/** A FunctionVersion with the share of calls that its function gives it. */
export const toVersionBody = (version: FunctionVersion, fn: Function): VersionBody => {
  const targets = (fn.status?.traffic ?? []).filter(({ uid }) => uid === version.metadata.uid);
  return {
    version: version.spec.version,
    name: version.metadata.name,
    created_at: version.metadata.creationTimestamp ?? "",
    code_digest: version.spec.codeDigest,
    runtime: version.spec.runtime,
    entrypoint: version.spec.entrypoint,
    memory_mb: version.spec.memoryMB,
    timeout_sec: version.spec.timeoutSec,
    phase: version.status?.phase ?? "Pending",
    message: version.status?.message ?? "",
    conditions: version.status?.conditions ?? [],
    percent: targets.reduce((sum, { percent }) => sum + percent, 0),
    tags: targets.flatMap(({ tag }) => tag ?? []),
    ...present({ image: version.status?.image, build: toBuildBody(version) }),
  };
};
