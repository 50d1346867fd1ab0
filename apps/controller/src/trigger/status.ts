import type { Trigger, TriggerStatus } from "@sless/contracts";
import { fails, holds, makeConditions, type Problem, type Verdicts } from "../status/condition-set.js";
import { summarize } from "../status/phases.js";

/** What one reconcile has found out. Host and URL are given anew each time: without them nothing is routed. */
export interface TriggerDraft {
  readonly verdicts: Verdicts<"Trigger">;
  host?: string;
  url?: string;
}

export const createTriggerDraft = (): TriggerDraft => ({ verdicts: {} });

/** The trigger can't be what it asks for: gateways route nothing to it. */
export const markRefused = (draft: TriggerDraft, why: Problem): void => {
  draft.verdicts.Accepted = fails(why);
  draft.verdicts.Ready = fails(why);
};

/** The trigger holds its host: gateways route by it. */
export const markAccepted = (draft: TriggerDraft, host: string): void => {
  draft.verdicts.Accepted = holds("Accepted", host);
  draft.host = host;
};

export const markWaiting = (draft: TriggerDraft, why: Problem): void => {
  draft.verdicts.Ready = fails(why);
};

export const markActive = (draft: TriggerDraft, url: string): void => {
  draft.verdicts.Ready = holds("Ready", url);
  draft.url = url;
};

export const makeTriggerStatus = (trigger: Trigger, draft: TriggerDraft, time: string): TriggerStatus => {
  const generation = trigger.metadata.generation ?? 0;
  const conditions = makeConditions("Trigger", trigger.status?.conditions ?? [], draft.verdicts, { time, generation });
  return {
    ...summarize("Trigger", conditions),
    conditions,
    observedGeneration: generation,
    ...(draft.host !== undefined && { host: draft.host }),
    ...(draft.url !== undefined && { url: draft.url }),
  };
};
