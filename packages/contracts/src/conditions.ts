import { z } from "zod";
import { LIMITS } from "./limits.js";

/** A condition of the Kubernetes convention. */
export const Condition = z.object({
  type: z.string().min(1).max(64),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[A-Z][A-Za-z0-9]*$/),
  message: z.string().max(LIMITS.messageLength),
  lastTransitionTime: z.string().meta({ format: "date-time" }),
  observedGeneration: z.int().min(0).optional(),
});
export type Condition = z.infer<typeof Condition>;

export const Conditions = z
  .array(Condition)
  .max(16)
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });

/** Condition types by kind. `Ready` is in each and last: it sums up what was last written. */
export const CONDITION_TYPES = {
  Tenant: ["NamespacesReady", "Ready"],
  Function: ["CodeUploaded", "VersionReady", "Serving", "Ready"],
  FunctionVersion: ["ImageBuilt", "Available", "Ready"],
  Trigger: ["Accepted", "Ready"],
} as const;
export type ConditionType<K extends keyof typeof CONDITION_TYPES> = (typeof CONDITION_TYPES)[K][number];

/**
 * Reasons of conditions, closed so that clients and alerts can rely on them. `lasting` ones do not mend themselves:
 * a waiting client stops at once and the user has to change something.
 */
export const REASONS = {
  // good
  Uploaded: { lasting: false },
  Built: { lasting: false },
  Available: { lasting: false },
  Serving: { lasting: false },
  Ready: { lasting: false },
  Accepted: { lasting: false },
  Created: { lasting: false },
  // on the way
  Pending: { lasting: false },
  Building: { lasting: false },
  Starting: { lasting: false },
  MovingTraffic: { lasting: false },
  TenantNotReady: { lasting: false },
  QuotaSurge: { lasting: false },
  FunctionNotFound: { lasting: false },
  FunctionNotReady: { lasting: false },
  Terminating: { lasting: false },
  StoreUnavailable: { lasting: false },
  RegistryUnavailable: { lasting: false },
  // nothing to do yet
  NoCode: { lasting: false },
  NotServing: { lasting: false },
  Disabled: { lasting: false },
  Superseded: { lasting: false },
  ScaledDown: { lasting: false },
  // the user's to mend
  InvalidSpec: { lasting: true },
  InvalidArtifactKey: { lasting: true },
  ArtifactMissing: { lasting: true },
  ArtifactCorrupt: { lasting: true },
  RuntimeUnknown: { lasting: true },
  RuntimeUnavailable: { lasting: true },
  BuildFailed: { lasting: true },
  LoadError: { lasting: true },
  CrashLoop: { lasting: true },
  OutOfMemory: { lasting: true },
  ProbeFailed: { lasting: true },
  VersionNotFound: { lasting: true },
  HostReserved: { lasting: true },
  HostNotAllowed: { lasting: true },
  HostInvalid: { lasting: true },
  // mended by somebody else or by time
  HostConflict: { lasting: true },
  QuotaExceeded: { lasting: true },
  Unschedulable: { lasting: true },
  ImagePullFailed: { lasting: true },
  NamespaceConflict: { lasting: true },
  HashConflict: { lasting: true },
  // faults of the platform
  InternalError: { lasting: false },
} as const satisfies Readonly<Record<string, { lasting: boolean }>>;
export type Reason = keyof typeof REASONS;

/** True when waiting longer can't help: see `REASONS`. Unknown text counts as not lasting. */
export const isLastingReason = (reason: string): boolean =>
  Object.hasOwn(REASONS, reason) && REASONS[reason as Reason].lasting;
