import { z } from "zod";
import { Conditions } from "../conditions.js";
import type { ResourceType, SpecObject } from "../kube-object.js";
import { LIMITS } from "../limits.js";
import { API_GROUP, API_VERSION } from "../names.js";
import {
  CodeDigest,
  Concurrency,
  Entrypoint,
  Env,
  KeepVersions,
  MemoryMB,
  Name,
  RuntimeName,
  Scale,
  StatusMessage,
  TimeoutSec,
  Traffic,
  TrafficTarget,
  Uid,
} from "./fields.js";

export const FunctionSpec = z.object({
  runtime: RuntimeName,
  entrypoint: Entrypoint,
  memoryMB: MemoryMB.default(LIMITS.memoryMB.default),
  timeoutSec: TimeoutSec.default(LIMITS.timeoutSec.default),
  env: Env.default({}),
  s3Key: z.string().max(256).optional().meta({ description: "Where the code lies; set by an upload." }),
  scale: Scale.default({ min: LIMITS.replicas.default, concurrency: LIMITS.concurrency.default }),
  traffic: Traffic.optional(),
  keepVersions: KeepVersions.default(LIMITS.keepVersions.default),
});
export type FunctionSpec = z.infer<typeof FunctionSpec>;

/** One target of `status.traffic`: everything that a gateway needs to route to it. */
export const ActiveTarget = TrafficTarget.extend({
  name: z.string().max(64).meta({ description: "Name of the FunctionVersion and of its workload objects." }),
  uid: Uid,
  timeoutSec: TimeoutSec,
  concurrency: Concurrency,
});
export type ActiveTarget = z.infer<typeof ActiveTarget>;

export const FUNCTION_PHASES = ["Pending", "Building", "Ready", "Failed"] as const;
export type FunctionPhase = (typeof FUNCTION_PHASES)[number];

export const FunctionStatus = z.object({
  phase: z.enum(FUNCTION_PHASES).optional(),
  message: StatusMessage.optional(),
  conditions: Conditions.optional(),
  observedGeneration: z.int().optional(),
  latestVersion: z.int().optional().meta({ description: "Number of the newest version." }),
  readyVersion: z.int().optional().meta({ description: "Number of the newest version that became ready." }),
  codeDigest: CodeDigest.optional().meta({ description: "Digest of the code of the newest version." }),
  traffic: z.array(ActiveTarget).max(LIMITS.trafficTargets).optional(),
  url: z.string().max(2048).optional().meta({ description: "URL of the first active HTTP trigger." }),
});
export type FunctionStatus = z.infer<typeof FunctionStatus>;

export interface Function extends SpecObject<FunctionSpec, FunctionStatus> {
  kind: "Function";
}

export const FUNCTIONS: ResourceType<Function> = {
  group: API_GROUP,
  version: API_VERSION,
  kind: "Function",
  plural: "functions",
  namespaced: true,
};

export { Name as FunctionName };
