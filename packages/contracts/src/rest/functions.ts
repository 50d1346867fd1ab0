import { z } from "zod";
import { Condition } from "../conditions.js";
import { LIMITS } from "../limits.js";
import { FUNCTION_PHASES } from "../resources/function.js";
import { Build, VERSION_PHASES } from "../resources/function-version.js";
import {
  CodeDigest,
  Concurrency,
  Entrypoint,
  Env,
  KeepVersions,
  MemoryMB,
  Name,
  Replicas,
  RuntimeName,
  TimeoutSec,
  Timestamp,
  Traffic,
  Uid,
} from "../resources/fields.js";

export const ScaleBody = z.strictObject({
  min: Replicas.default(LIMITS.replicas.default),
  concurrency: Concurrency.default(LIMITS.concurrency.default),
});

/** Settings of a function with their defaults: the body of PUT. */
export const FunctionSettings = z.strictObject({
  runtime: RuntimeName,
  entrypoint: Entrypoint,
  memory_mb: MemoryMB.default(LIMITS.memoryMB.default),
  timeout_sec: TimeoutSec.default(LIMITS.timeoutSec.default),
  env_vars: Env.default({}),
  scale: ScaleBody.default({ min: LIMITS.replicas.default, concurrency: LIMITS.concurrency.default }),
  traffic: Traffic.optional(),
  keep_versions: KeepVersions.default(LIMITS.keepVersions.default),
  code_digest: CodeDigest.optional().meta({
    description: "Activates code that was uploaded with ?stage=true. Absent: the code stays.",
  }),
});
export type FunctionSettings = z.infer<typeof FunctionSettings>;

export const CreateFunction = FunctionSettings.extend({ name: Name });
export type CreateFunction = z.infer<typeof CreateFunction>;

/** JSON merge patch: what is absent stays, null removes or restores the default. Validated as a whole after merging. */
export const PatchFunction = z.strictObject({
  runtime: RuntimeName.optional(),
  entrypoint: Entrypoint.optional(),
  memory_mb: MemoryMB.nullable().optional(),
  timeout_sec: TimeoutSec.nullable().optional(),
  env_vars: z.record(z.string(), z.string().max(LIMITS.envValueBytes).nullable()).nullable().optional(),
  scale: z
    .strictObject({ min: Replicas.nullable().optional(), concurrency: Concurrency.nullable().optional() })
    .nullable()
    .optional(),
  traffic: Traffic.nullable().optional(),
  keep_versions: KeepVersions.nullable().optional(),
  code_digest: CodeDigest.optional(),
});
export type PatchFunction = z.infer<typeof PatchFunction>;

export const TrafficStatus = z.object({
  version: z.int(),
  percent: z.int(),
  tag: Name.optional(),
});

/** A function as the API answers it. */
export const FunctionBody = z.object({
  name: Name,
  namespace: z.string(),
  uid: Uid,
  generation: z.int(),
  created_at: Timestamp,
  runtime: RuntimeName,
  entrypoint: Entrypoint,
  memory_mb: MemoryMB,
  timeout_sec: TimeoutSec,
  env_vars: z.record(z.string(), z.string()),
  scale: z.object({ min: z.int(), concurrency: z.int() }),
  traffic: z.array(TrafficStatus).optional().meta({ description: "The split as it was asked for." }),
  keep_versions: z.int(),
  code_digest: CodeDigest.optional(),
  status: z.object({
    phase: z.enum(FUNCTION_PHASES),
    message: z.string(),
    conditions: z.array(Condition),
    observed_generation: z.int().optional(),
    latest_version: z.int().optional(),
    ready_version: z.int().optional(),
    traffic: z.array(TrafficStatus).meta({ description: "The split as it is served." }),
    url: z.string().optional(),
  }),
});
export type FunctionBody = z.infer<typeof FunctionBody>;

export const VersionBody = z.object({
  version: z.int(),
  name: z.string(),
  created_at: Timestamp,
  code_digest: CodeDigest,
  runtime: RuntimeName,
  entrypoint: Entrypoint,
  memory_mb: z.int(),
  timeout_sec: z.int(),
  phase: z.enum(VERSION_PHASES),
  message: z.string(),
  conditions: z.array(Condition),
  percent: z.int().meta({ description: "Share of the calls that it takes now." }),
  tags: z.array(z.string()),
  pinned: z
    .object({ by: z.string(), reason: z.string().optional() })
    .optional()
    .meta({ description: "A rollback sends all calls to this version until the code changes: by whom, and why." }),
  image: z.string().optional(),
  build: Build.omit({ log: true, jobName: true }).optional(),
});
export type VersionBody = z.infer<typeof VersionBody>;

export const UploadResult = z.object({
  code_digest: CodeDigest,
  size_bytes: z.int(),
  files: z.int(),
  staged: z.boolean(),
  unchanged: z.boolean().meta({ description: "True when the function already ran this very code." }),
  warnings: z.array(z.string()),
  function: FunctionBody.optional().meta({ description: "The function after the upload; absent for a staged one." }),
});
export type UploadResult = z.infer<typeof UploadResult>;

export const RollbackRequest = z.strictObject({
  version: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Absent: the newest ready version before the one that serves." }),
  reason: z.string().max(256).optional(),
});
export type RollbackRequest = z.infer<typeof RollbackRequest>;

export const RollbackResult = z.object({ from: z.int().optional(), to: z.int(), function: FunctionBody });
export type RollbackResult = z.infer<typeof RollbackResult>;

/** One line of `GET …/logs`, application/x-ndjson. */
export const LogLine = z.object({
  time: z.string(),
  version: z.int().optional(),
  pod: z.string(),
  request_id: z.string().optional(),
  stream: z.enum(["stdout", "stderr", "platform"]),
  level: z.string().optional(),
  message: z.string(),
  truncated: z.int().optional(),
});
export type LogLine = z.infer<typeof LogLine>;
