import { z } from "zod";
import { Conditions } from "../conditions.js";
import type { ResourceType, SpecObject } from "../kube-object.js";
import { API_GROUP, API_VERSION } from "../names.js";
import {
  cel,
  CodeDigest,
  Entrypoint,
  Env,
  MemoryMB,
  Name,
  RuntimeName,
  StatusMessage,
  TimeoutSec,
  Timestamp,
  Uid,
} from "./fields.js";
import { LIMITS } from "../limits.js";

const FROZEN = [
  "functionName",
  "functionUid",
  "version",
  "codeDigest",
  "runtime",
  "baseImage",
  "entrypoint",
  "memoryMB",
  "timeoutSec",
  "env",
];

const FunctionVersionFields = z.object({
  functionName: Name,
  functionUid: Uid,
  version: z.int().min(1).max(2_147_483_647),
  codeDigest: CodeDigest,
  runtime: RuntimeName,
  baseImage: z
    .string()
    .max(512)
    .regex(/@sha256:[0-9a-f]{64}$/)
    .meta({ description: "Base image of the runtime, by digest." }),
  entrypoint: Entrypoint,
  memoryMB: MemoryMB,
  timeoutSec: TimeoutSec,
  env: Env.default({}),
  replicas: z
    .int()
    .min(0)
    .max(LIMITS.replicas.max)
    .meta({ description: "Instances that shall run; the one field that changes." }),
});

/** A numbered snapshot of what decides the code's behaviour. */
export const FunctionVersionSpec = FunctionVersionFields.meta(
  cel(
    ...FROZEN.map((field) => ({
      rule: `self.${field} == oldSelf.${field}`,
      message: `${field} can't be changed: a version is a snapshot`,
    })),
  ),
);
export type FunctionVersionSpec = z.infer<typeof FunctionVersionSpec>;

export const Build = z.object({
  strategy: z.string().max(32),
  jobName: z.string().max(63).optional(),
  startedAt: Timestamp,
  seconds: z.number().min(0).optional().meta({ description: "How long the build took." }),
  log: z.string().max(4096).optional().meta({ description: "Last lines of the build." }),
});
export type Build = z.infer<typeof Build>;

export const VERSION_PHASES = ["Pending", "Building", "Starting", "Ready", "ScaledDown", "Failed"] as const;
export type VersionPhase = (typeof VERSION_PHASES)[number];

export const FunctionVersionStatus = z.object({
  phase: z.enum(VERSION_PHASES).optional(),
  message: StatusMessage.optional(),
  conditions: Conditions.optional(),
  observedGeneration: z.int().optional(),
  image: z.string().max(512).optional().meta({ description: "What was built, by digest." }),
  readyReplicas: z.int().min(0).optional(),
  restarts: z.int().min(0).optional().meta({ description: "Most restarts that one of its instances has seen." }),
  build: Build.optional(),
});
export type FunctionVersionStatus = z.infer<typeof FunctionVersionStatus>;

export interface FunctionVersion extends SpecObject<FunctionVersionSpec, FunctionVersionStatus> {
  kind: "FunctionVersion";
}

export const FUNCTION_VERSIONS: ResourceType<FunctionVersion> = {
  group: API_GROUP,
  version: API_VERSION,
  kind: "FunctionVersion",
  plural: "functionversions",
  namespaced: true,
};
