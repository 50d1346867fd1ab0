import {
  isLastingReason,
  type Condition,
  type FunctionPhase,
  type TenantStatus,
  type TriggerPhase,
  type VersionPhase,
} from "@sless/contracts";

/** What people and printer columns read first; follows from the conditions alone. */
export interface Summary<Phase> {
  readonly phase: Phase;
  readonly message: string;
}

type Kind = "Tenant" | "Function" | "FunctionVersion" | "Trigger";
interface PhaseOf {
  readonly Tenant: NonNullable<TenantStatus["phase"]>;
  readonly Function: FunctionPhase;
  readonly FunctionVersion: VersionPhase;
  readonly Trigger: TriggerPhase;
}

/** Phases of each kind: when Ready, when waiting cannot help, and otherwise by the reason of `Ready`. */
const PHASES: {
  readonly [K in Kind]: { good: PhaseOf[K]; failed: PhaseOf[K]; by: Record<string, PhaseOf[K]>; otherwise: PhaseOf[K] };
} = {
  Tenant: { good: "Active", failed: "Failed", by: { Terminating: "Terminating" }, otherwise: "Pending" },
  Function: {
    good: "Ready",
    failed: "Failed",
    by: { Building: "Building", Starting: "Building" },
    otherwise: "Pending",
  },
  FunctionVersion: {
    good: "Ready",
    failed: "Failed",
    by: { Building: "Building", Starting: "Starting", ScaledDown: "ScaledDown" },
    otherwise: "Pending",
  },
  Trigger: { good: "Active", failed: "Failed", by: { Disabled: "Disabled" }, otherwise: "Pending" },
};

/**
 * Derives phase and message from the `Ready` condition: the one place that does, so that they never contradict it.
 * A reason that does not mend itself makes the phase Failed (see REASONS).
 */
export const summarize = <K extends Kind>(kind: K, conditions: readonly Condition[]): Summary<PhaseOf[K]> => {
  const phases = PHASES[kind];
  const ready = conditions.find(({ type }) => type === "Ready");
  if (!ready) return { phase: phases.otherwise, message: "" };
  if (ready.status === "True") return { phase: phases.good, message: ready.message };
  const message = ready.message || ready.reason;
  if (isLastingReason(ready.reason)) return { phase: phases.failed, message };
  return { phase: phases.by[ready.reason] ?? phases.otherwise, message };
};
