import { TRIGGERS, TriggerSpec, type Trigger } from "@sless/contracts";
import { ConflictError, done, NotLeadingError, type Reconcile, type ReconcileResult } from "@sless/kube";
import { ensureFinalizer, releaseFinalizer } from "../finalizers.js";
import { isProblem, listIssues, tenantProblem } from "../function/code.js";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";
import type { TriggerDeps } from "./deps.js";
import { claimHost, releaseClaims } from "./host-claims.js";
import { decideHost } from "./host-policy.js";
import { olderRival } from "./path-conflict.js";
import { functionProblem, makeUrl } from "./policy.js";
import {
  createTriggerDraft,
  makeTriggerStatus,
  markAccepted,
  markActive,
  markRefused,
  markWaiting,
  type TriggerDraft,
} from "./status.js";

/** Triggers of the same tenant that ask for the same host and are on. */
const rivalsOf = (trigger: Trigger, host: string, { caches }: TriggerDeps): Trigger[] =>
  caches.triggers
    .byIndex("host", host)
    .filter(({ metadata }) => metadata.namespace === trigger.metadata.namespace && !metadata.deletionTimestamp)
    .filter(({ spec }) => spec.enabled !== false);

/** Gets the host for the trigger: allowed, claimed for the tenant, and its path not taken by an older trigger. */
const obtainHost = async (
  trigger: Trigger,
  spec: TriggerSpec,
  deps: TriggerDeps,
): Promise<{ host: string } | Problem> => {
  const namespace = trigger.metadata.namespace ?? "";
  const tenant = deps.caches.tenants.get(namespace);
  // A tenant that is merely not ready keeps its hosts: a fault in its namespaces must not take its endpoints down.
  const gone = !tenant || tenant.metadata.deletionTimestamp ? tenantProblem(tenant, namespace) : undefined;
  if (gone) return gone;
  const wish = {
    host: spec.http.host,
    functionName: spec.functionRef.name,
    tenant: namespace,
    tenantHosts: tenant?.spec.hosts ?? [],
  };
  const decided = decideHost(wish, deps.rules);
  if (isProblem(decided)) return decided;
  const conflict = await claimHost(decided.host, namespace, deps);
  if (conflict) return conflict;
  const rival = olderRival({ ...trigger, spec }, rivalsOf(trigger, decided.host, deps));
  if (!rival) return decided;
  return problem("HostConflict", `trigger ${rival.metadata.name} already has ${decided.host}${spec.http.path}`);
};

const runSteps = async (trigger: Trigger, draft: TriggerDraft, deps: TriggerDeps): Promise<void> => {
  const parsed = TriggerSpec.safeParse(trigger.spec);
  if (!parsed.success) return markRefused(draft, problem("InvalidSpec", listIssues(parsed.error.issues)));
  const spec = parsed.data;
  if (!spec.enabled) return markRefused(draft, problem("Disabled", "spec.enabled is false"));
  const obtained = await obtainHost(trigger, spec, deps);
  if (isProblem(obtained)) return markRefused(draft, obtained);
  markAccepted(draft, obtained.host);
  const { name } = spec.functionRef;
  const why = functionProblem(deps.caches.functions.get(`${trigger.metadata.namespace ?? ""}/${name}`), name);
  if (why) markWaiting(draft, why);
  else markActive(draft, makeUrl(obtained.host, spec.http.path, deps.url));
};

const writeStatus = async (trigger: Trigger, draft: TriggerDraft, deps: TriggerDeps): Promise<void> => {
  const time = new Date(deps.clock.now()).toISOString();
  await deps.writeStatus(TRIGGERS, trigger, makeTriggerStatus(trigger, draft, time));
};

/** A fault of the platform takes no host away: what was routed stays so. */
const markFailure = (trigger: Trigger, draft: TriggerDraft, error: unknown): void => {
  const { host, url } = trigger.status ?? {};
  Object.assign(draft, host !== undefined && { host }, url !== undefined && { url });
  if (!isTrue(conditionOf(trigger, "Ready"))) {
    markWaiting(draft, problem("InternalError", `will be tried again: ${String(error)}`));
  }
};

const finalizeTrigger = async (trigger: Trigger, deps: TriggerDeps): Promise<ReconcileResult> => {
  await releaseClaims(trigger.metadata.namespace ?? "", deps);
  await releaseFinalizer(deps.client, TRIGGERS, trigger);
  return done();
};

/** Reconciles one Trigger: which host it holds, and whether its function answers there. */
export const createTriggerReconcile =
  (deps: TriggerDeps): Reconcile =>
  async (key): Promise<ReconcileResult> => {
    const cached = deps.caches.triggers.get(key);
    if (!cached) return done();
    if (cached.metadata.deletionTimestamp) return finalizeTrigger(structuredClone(cached), deps);
    const trigger = await ensureFinalizer(deps.client, TRIGGERS, structuredClone(cached));
    const draft = createTriggerDraft();
    try {
      await runSteps(trigger, draft, deps);
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotLeadingError) throw error;
      markFailure(trigger, draft, error);
      await writeStatus(trigger, draft, deps);
      throw error;
    }
    await writeStatus(trigger, draft, deps);
    await releaseClaims(trigger.metadata.namespace ?? "", deps);
    return done();
  };
