import { setTimeout as delay } from "node:timers/promises";
import type { Probe } from "../objects.js";
import { runProbe, type ProbeResult, type ProbeTarget } from "./probe.js";

export interface ProberEvents {
  /** The first answer and each one after which the outcome has turned. */
  onChange(ok: boolean): void;
  /** Each failure that counts. */
  onFailure(message: string): void;
}

interface Schedule {
  periodMs: number;
  successThreshold: number;
  failureThreshold: number;
}

/**
 * Asked this often at first, so that a process is found ready when it is and not a period later. It slows down as an
 * answer takes longer, to cost no more than a few percent of the wait.
 */
const EAGER_MS = 20;
const EAGER_SHARE = 0.1;
const EAGER_LIMIT_MS = 10_000;

const scheduleOf = (probe: Probe): Schedule => ({
  periodMs: (probe.periodSeconds ?? 10) * 1000,
  successThreshold: probe.successThreshold ?? 1,
  failureThreshold: probe.failureThreshold ?? 3,
});

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    // Aborted: the caller looks at the signal itself.
  }
};

/** Asks eagerly until the first success, a period has passed, or the end. These failures do not count. */
const probeEagerly = async (
  ask: () => Promise<ProbeResult>,
  limitMs: number,
  signal: AbortSignal,
): Promise<ProbeResult | undefined> => {
  const start = performance.now();
  let result: ProbeResult | undefined;
  for (;;) {
    result = await ask();
    const waited = performance.now() - start;
    if (result.ok || signal.aborted || waited >= limitMs) return result;
    await pause(Math.max(EAGER_MS, waited * EAGER_SHARE), signal);
  }
};

/**
 * Probes until aborted, by the rules of the Kubernetes probe fields. The one difference: the first period is filled
 * with further attempts, of which only the last counts.
 * @param untilSuccess end at the first success, as a startup probe does
 */
export const runProber = async (
  { probe, target, untilSuccess = false }: { probe: Probe; target: ProbeTarget; untilSuccess?: boolean },
  events: ProberEvents,
  signal: AbortSignal,
): Promise<void> => {
  const { periodMs, successThreshold, failureThreshold } = scheduleOf(probe);
  const ask = () => runProbe(probe, target);
  await pause((probe.initialDelaySeconds ?? 0) * 1000, signal);
  let outcome: boolean | undefined;
  let streak = 0;
  let lastOk: boolean | undefined;
  let result = signal.aborted ? undefined : await probeEagerly(ask, Math.min(periodMs, EAGER_LIMIT_MS), signal);
  while (result && !signal.aborted) {
    streak = result.ok === lastOk ? streak + 1 : 1;
    lastOk = result.ok;
    if (!result.ok) events.onFailure(result.message);
    if (result.ok !== outcome && streak >= (result.ok ? successThreshold : failureThreshold)) {
      outcome = result.ok;
      events.onChange(outcome);
    }
    if (untilSuccess && outcome) return;
    await pause(periodMs, signal);
    if (!signal.aborted) result = await ask();
  }
};
