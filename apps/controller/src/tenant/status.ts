import type { Tenant, TenantStatus } from "@sless/contracts";
import { fails, holds, makeConditions, type Problem, type Verdicts } from "../status/condition-set.js";
import { summarize } from "../status/phases.js";

export interface TenantDraft {
  readonly verdicts: Verdicts<"Tenant">;
}

export const createTenantDraft = (): TenantDraft => ({ verdicts: {} });

export const markNamespacesReady = (draft: TenantDraft): void => {
  draft.verdicts.NamespacesReady = holds("Created");
  draft.verdicts.Ready ??= holds("Ready");
};

export const markBlocked = (draft: TenantDraft, why: Problem): void => {
  draft.verdicts.NamespacesReady = fails(why);
  draft.verdicts.Ready = fails(why);
};

/** The tenant is being deleted, and what is still awaited. */
export const markTerminating = (draft: TenantDraft, why: Problem): void => {
  draft.verdicts.Ready = fails(why);
};

export const makeTenantStatus = (tenant: Tenant, draft: TenantDraft, time: string): TenantStatus => {
  const generation = tenant.metadata.generation ?? 0;
  const conditions = makeConditions("Tenant", tenant.status?.conditions ?? [], draft.verdicts, { time, generation });
  return { ...summarize("Tenant", conditions), conditions, observedGeneration: generation };
};
