import {
  FINALIZER,
  FunctionSpec,
  FunctionVersionSpec,
  LABELS,
  TenantSpec,
  TriggerSpec,
  versionName,
  type Function,
  type FunctionStatus,
  type FunctionVersion,
  type FunctionVersionStatus,
  type Tenant,
  type TenantStatus,
  type Trigger,
  type TriggerStatus,
} from "@sless/contracts";
import { apiVersion, makeMetadata, TENANT_HASH, TENANT_NAMESPACE, uidOf, type Overrides } from "./metadata.js";

/** Digest and base image that builders use: valid, and different from each other. */
export const CODE_DIGEST = "c0de".repeat(16);
export const BASE_IMAGE = `registry.test/sless/nodejs20@sha256:${"ba5e".repeat(16)}`;

/** A Tenant whose namespaces are ready. */
export const aTenant = (given: Overrides<TenantSpec, TenantStatus> = {}): Tenant => ({
  apiVersion,
  kind: "Tenant",
  metadata: makeMetadata("Tenant", { name: TENANT_NAMESPACE, finalizers: [FINALIZER] }, given.metadata),
  spec: TenantSpec.parse({
    owner: { issuer: "https://auth.test", subject: "alice" },
    hash: TENANT_HASH,
    ...given.spec,
  }),
  status: given.status ?? { phase: "Active", conditions: [aCondition("Ready", "True", "Ready")] },
});

/** A Function named `hello` whose code is uploaded. */
export const aFunction = (given: Overrides<FunctionSpec, FunctionStatus> = {}): Function => {
  const metadata = makeMetadata(
    "Function",
    { name: "hello", namespace: TENANT_NAMESPACE, finalizers: [FINALIZER] },
    given.metadata,
  );
  const s3Key = `${metadata.namespace}/${metadata.uid}/${CODE_DIGEST}.tar.gz`;
  return {
    apiVersion,
    kind: "Function",
    metadata,
    spec: FunctionSpec.parse({ runtime: "nodejs20", entrypoint: "index.handler", s3Key, ...given.spec }),
    ...(given.status && { status: given.status }),
  };
};

/** What a version is told of beside its object: whose it is. */
export interface VersionOverrides extends Overrides<FunctionVersionSpec, FunctionVersionStatus> {
  readonly of?: Function;
}

/** Version 1 of `hello`, or of the function given, wanting one replica and without a status. */
export const aVersion = ({ of = aFunction(), ...given }: VersionOverrides = {}): FunctionVersion => {
  const version = given.spec?.version ?? 1;
  const name = given.metadata?.name ?? versionName(of.metadata.name, version);
  const { runtime, entrypoint, memoryMB, timeoutSec, env } = of.spec;
  const functionUid = of.metadata.uid ?? "";
  const spec = FunctionVersionSpec.parse({
    ...{ functionName: of.metadata.name, functionUid, version, codeDigest: CODE_DIGEST, baseImage: BASE_IMAGE },
    ...{ runtime, entrypoint, memoryMB, timeoutSec, env, replicas: 1 },
    ...given.spec,
  });
  const defaults = {
    name,
    namespace: of.metadata.namespace ?? TENANT_NAMESPACE,
    finalizers: [FINALIZER],
    labels: { [LABELS.function]: of.metadata.name, [LABELS.functionUid]: functionUid },
  };
  return {
    apiVersion,
    kind: "FunctionVersion",
    metadata: makeMetadata("FunctionVersion", defaults, given.metadata),
    spec,
    ...(given.status && { status: given.status }),
  };
};

/** An http Trigger named `hello` that calls `hello` on its default host. */
export const aTrigger = (given: Overrides<TriggerSpec, TriggerStatus> = {}): Trigger => ({
  apiVersion,
  kind: "Trigger",
  metadata: makeMetadata(
    "Trigger",
    { name: "hello", namespace: TENANT_NAMESPACE, finalizers: [FINALIZER] },
    given.metadata,
  ),
  spec: TriggerSpec.parse({ functionRef: { name: "hello" }, type: "http", ...given.spec }),
  ...(given.status && { status: given.status }),
});

/** A condition as a status carries it. */
export const aCondition = (type: string, status: "True" | "False" | "Unknown", reason: string, message = "") => ({
  ...{ type, status, reason, message },
  lastTransitionTime: "2030-01-01T00:00:00Z",
});

/** Status of a version that is built and whose replicas all answer. */
export const aReadyStatus = (replicas = 1, given: FunctionVersionStatus = {}): FunctionVersionStatus => ({
  phase: "Ready",
  conditions: [
    aCondition("ImageBuilt", "True", "Built"),
    aCondition("Available", "True", "Available"),
    aCondition("Ready", "True", "Ready"),
  ],
  observedGeneration: 1,
  readyReplicas: replicas,
  ...given,
});

/** Status of a version that failed for `reason`. */
export const aFailedStatus = (reason: string, message: string, given: FunctionVersionStatus = {}) => ({
  phase: "Failed" as const,
  conditions: [
    aCondition("ImageBuilt", "True", "Built"),
    aCondition("Available", "False", reason, message),
    aCondition("Ready", "False", reason, message),
  ],
  observedGeneration: 1,
  readyReplicas: 0,
  ...given,
});

/** The entry that routes to a version, as `status.traffic` holds it. */
export const aTarget = (version: FunctionVersion, percent = 100, concurrency = 1) => ({
  ...{
    version: version.spec.version,
    percent,
    name: version.metadata.name,
    uid: version.metadata.uid ?? uidOf("", ""),
  },
  ...{ timeoutSec: version.spec.timeoutSec, concurrency },
});
