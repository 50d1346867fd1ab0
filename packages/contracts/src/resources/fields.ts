import { z } from "zod";
import { LIMITS } from "../limits.js";
import { NAME_MAX_LENGTH, NAME_PATTERN } from "../names.js";
import { RESERVED_ENV_NAMES, RESERVED_ENV_PREFIXES } from "../runtime-protocol.js";

/** A CEL rule of a CRD, with the text that a refused writer reads. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/** Attaches CEL rules to a schema; they reach the CRD, and the API server enforces them on every writer. */
export const cel = (...rules: readonly CelRule[]): { "x-kubernetes-validations": readonly CelRule[] } => ({
  "x-kubernetes-validations": rules,
});

export const Name = z.string().min(1).max(NAME_MAX_LENGTH).regex(new RegExp(NAME_PATTERN)).meta({
  description: "1–40 lower-case letters, digits and single dashes, starting with a letter.",
  example: "hello",
});

export const RuntimeName = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[a-z][a-z0-9.-]*$/)
  .meta({
    description: "Name of a runtime that GET /v1/runtimes lists.",
    example: "nodejs20",
  });

export const Entrypoint = z
  .string()
  .min(3)
  .max(LIMITS.entrypointLength)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z_$][A-Za-z0-9_$]*$/)
  .meta({ description: "File without its ending, a dot, and the exported handler.", example: "index.handler" });

export const MemoryMB = z.int().min(LIMITS.memoryMB.min).max(LIMITS.memoryMB.max).meta({
  description: "Memory of one instance in MiB; its share of CPU follows from it.",
  example: 128,
});

export const TimeoutSec = z.int().min(LIMITS.timeoutSec.min).max(LIMITS.timeoutSec.max).meta({
  description: "Longest time one call may take, in seconds.",
  example: 30,
});

/** Names that an environment variable of a function may have. */
export const ENV_NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";

/** Why a name can't be used for a function's environment variable; undefined when it can. */
export const refuseEnvName = (name: string): string | undefined => {
  if (!new RegExp(ENV_NAME_PATTERN).test(name)) return "must be a letter or _ followed by letters, digits or _";
  const prefix = RESERVED_ENV_PREFIXES.find((reserved) => name.startsWith(reserved));
  if (prefix !== undefined) return `begins with ${prefix}, which is the platform's`;
  return (RESERVED_ENV_NAMES as readonly string[]).includes(name) ? "is set by the platform" : undefined;
};

/** Bytes that an environment takes: names and values, UTF-8. */
export const envBytes = (env: Readonly<Record<string, string>>): number =>
  Object.entries(env).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);

const reservedNames = RESERVED_ENV_NAMES.map((name) => `'${name}'`).join(", ");

export const Env = z
  .record(z.string(), z.string().max(LIMITS.envValueBytes))
  .superRefine((env, context) => {
    for (const name of Object.keys(env)) {
      const why = refuseEnvName(name);
      if (why !== undefined) context.addIssue({ code: "custom", path: [name], message: `the name ${why}` });
    }
    if (Object.keys(env).length > LIMITS.envVars) {
      context.addIssue({ code: "custom", message: `has more than ${LIMITS.envVars} variables` });
    }
    const bytes = envBytes(env);
    if (bytes > LIMITS.envBytes) {
      context.addIssue({
        code: "custom",
        message: `takes ${bytes} bytes in all; at most ${LIMITS.envBytes} are allowed`,
      });
    }
  })
  .meta({
    description: "Environment variables of the function.",
    example: { GREETING: "hello" },
    maxProperties: LIMITS.envVars,
    ...cel(
      {
        rule: `self.all(name, name.matches('${ENV_NAME_PATTERN}'))`,
        message: "names must be a letter or _ followed by letters, digits or _, at most 128 characters",
      },
      {
        rule: "self.all(name, !name.startsWith('SLESS_'))",
        message: "names that begin with SLESS_ are the platform's",
      },
      {
        rule: `self.all(name, !(name in [${reservedNames}]))`,
        message: `these names are set by the platform: ${RESERVED_ENV_NAMES.join(", ")}`,
      },
    ),
  });

export const Replicas = z.int().min(LIMITS.replicas.min).max(LIMITS.replicas.max);
export const Concurrency = z.int().min(LIMITS.concurrency.min).max(LIMITS.concurrency.max);

export const Scale = z
  .object({
    min: Replicas.default(LIMITS.replicas.default).meta({ description: "Instances that always run." }),
    concurrency: Concurrency.default(LIMITS.concurrency.default).meta({
      description: "Calls that one instance takes at once.",
    }),
  })
  .meta({ description: "How many instances run and how many calls each takes." });
export type Scale = z.infer<typeof Scale>;

/** `spec.traffic`: which version takes which share. */
export const TrafficTarget = z.object({
  version: z.int().min(1).max(2_147_483_647).meta({ description: "Number of the version." }),
  percent: z.int().min(0).max(100).meta({ description: "Share of the calls." }),
  tag: Name.optional().meta({ description: "Gives the version a host of its own: <tag>--<host>." }),
});
export type TrafficTarget = z.infer<typeof TrafficTarget>;

export const TRAFFIC_SUM_MESSAGE = "percent must add up to 100";
export const Traffic = z
  .array(TrafficTarget)
  .min(1)
  .max(LIMITS.trafficTargets)
  .refine((targets) => targets.reduce((sum, { percent }) => sum + percent, 0) === 100, TRAFFIC_SUM_MESSAGE)
  .meta({
    description: "Split of calls between versions. Absent: all to the newest version that is ready.",
    ...cel({ rule: "self.map(target, target.percent).sum() == 100", message: TRAFFIC_SUM_MESSAGE }),
  });

export const KeepVersions = z.int().min(LIMITS.keepVersions.min).max(LIMITS.keepVersions.max).meta({
  description: "Versions that stay for a rollback, beside those that take traffic.",
});

/** The only code digest form: sha256 of the uncompressed code layer. */
export const CodeDigest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({
    description: "sha256 of the canonical code layer, 64 hex digits.",
    example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  });

export const Uid = z
  .string()
  .min(8)
  .max(64)
  .regex(/^[0-9a-fA-F-]+$/);
export const StatusMessage = z.string().max(LIMITS.messageLength);
export const Timestamp = z.string().meta({ format: "date-time" });
