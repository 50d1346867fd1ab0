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

/** Counts answers in a row; tells the outcome when enough of them have turned it. */
const createCounter = ({ successThreshold, failureThreshold }: Schedule) => {
  let outcome: boolean | undefined;
  let last: boolean | undefined;
  let streak = 0;
  return (ok: boolean): boolean | undefined => {
    streak = ok === last ? streak + 1 : 1;
    last = ok;
    const isEnough = streak >= (ok ? successThreshold : failureThreshold);
    if (ok === outcome || !isEnough) return undefined;
    outcome = ok;
    return ok;
  };
};

/** Asks eagerly until the first success, a period has passed, or the end. These failures do not count. */
const probeEagerly = async (
  ask: () => Promise<ProbeResult>,
  limitMs: number,
  signal: AbortSignal,
): Promise<ProbeResult> => {
  const start = performance.now();
  for (;;) {
    const result = await ask();
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
  const schedule = scheduleOf(probe);
  const ask = () => runProbe(probe, target);
  const count = createCounter(schedule);
  await pause((probe.initialDelaySeconds ?? 0) * 1000, signal);
  if (signal.aborted) return;
  let result = await probeEagerly(ask, Math.min(schedule.periodMs, EAGER_LIMIT_MS), signal);
  while (!signal.aborted) {
    if (!result.ok) events.onFailure(result.message);
    const turned = count(result.ok);
    if (turned !== undefined) events.onChange(turned);
    if (untilSuccess && turned) return;
    await pause(schedule.periodMs, signal);
    if (!signal.aborted) result = await ask();
  }
};
