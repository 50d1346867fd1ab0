import { pause } from "./backoff.js";
import type { KubeClient } from "./client.js";
import { elapsedSince, instantOf, systemClock, type Clock, type Instant } from "./clock.js";
import { NotLeadingError } from "./errors.js";
import { createLeaseStore, microTime, type LeaseRecord, type LeaseStore } from "./lease.js";
import type { Logger } from "./logger.js";

export interface LeaderElectorOptions {
  client: Pick<KubeClient, "get" | "create" | "replace">;
  namespace: string;
  name: string;
  /** Must be new for each process: a restarted one must not take itself for its predecessor. */
  identity: string;
  logger: Logger;
  /** Others may take a lease that was not renewed for this long. Default 15 s; whole seconds on the wire. */
  leaseDurationMs?: number | undefined;
  /** Leading ends when no renewal succeeded for this long; the gap to the duration is the margin. Default 10 s. */
  renewDeadlineMs?: number | undefined;
  /** Between two attempts. Default 2 s. */
  retryPeriodMs?: number | undefined;
  labels?: Record<string, string> | undefined;
  clock?: Clock | undefined;
}

/** Answers whether this process may write now, by the clock and not by hope. */
export interface Leadership {
  isLeading(): boolean;
  /** Throws NotLeadingError unless {@link isLeading}. */
  assertLeading(): void;
  /** Milliseconds for which a write sent now may still be on its way before another could lead; 0 when not leading. */
  writeWindowMs(): number;
}

export interface LeaderElector extends Leadership {
  /**
   * Waits for the lease, then runs `lead` and renews beside it. When `signal` aborts, `lead`'s signal aborts, and once
   * it has returned the lease is released, so that the next takes over at once. Throws LeadershipLostError when the
   * lease could not be renewed in time (or another took it): the process should exit, it must not lead again.
   */
  run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/** The lease was lost while leading. */
export class LeadershipLostError extends NotLeadingError {}

interface Timing {
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

const readTiming = (options: LeaderElectorOptions): Timing => {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0)) {
    throw new RangeError(
      `leader election needs leaseDurationMs > renewDeadlineMs > retryPeriodMs > 0, got ` +
        `${leaseDurationMs}, ${renewDeadlineMs}, ${retryPeriodMs}`,
    );
  }
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
};

/** Knows since when the record has not changed, on this process's own clock: clocks of others are not trusted. */
const createObserver = (clock: Clock) => {
  let record: LeaseRecord | undefined;
  let since: Instant = instantOf(clock);
  return {
    observe: (next: LeaseRecord | undefined): void => {
      if (next?.resourceVersion !== record?.resourceVersion) since = instantOf(clock);
      record = next;
    },
    /** Free, released, or not renewed for its whole duration while we looked. */
    isTakeable: (identity: string): boolean =>
      !record?.holder || record.holder === identity || elapsedSince(clock, since) > record.durationMs,
    get record() {
      return record;
    },
  };
};

/** Holds the lease for one identity: takes it, renews it, lets it go. */
const createHolder = (store: LeaseStore, options: LeaderElectorOptions, timing: Timing) => {
  const { identity, clock = systemClock } = options;
  const observer = createObserver(clock);
  let renewedAt: Instant | undefined;
  /** A renewal that was still on its way when leading ended must not bring it back. */
  let over = false;

  const write = async (holder: string, durationMs: number, timeoutMs: number): Promise<boolean> => {
    const { record } = observer;
    const now = microTime(clock.now());
    const continues = record?.holder === identity;
    // Taken before the request is sent: others count from when they see it, which is later.
    const sentAt = instantOf(clock);
    const written = await store.write({
      holder,
      durationMs,
      transitions: (record?.transitions ?? -1) + (continues ? 0 : 1),
      acquireTime: continues && record.acquireTime ? record.acquireTime : now,
      renewTime: now,
      resourceVersion: record?.resourceVersion,
      timeoutMs,
    });
    if (!written) return false;
    observer.observe(written);
    if (!over) renewedAt = sentAt;
    return true;
  };

  const end = (): void => {
    over = true;
    renewedAt = undefined;
  };

  return {
    /** One attempt to take or renew; true when the lease is ours. Throws when the API server cannot be asked. */
    attempt: async (): Promise<boolean> => {
      const timeoutMs = timing.renewDeadlineMs / 2;
      observer.observe(await store.read(timeoutMs));
      if (!observer.isTakeable(identity)) return false;
      return write(identity, timing.leaseDurationMs, timeoutMs);
    },
    holdsRecord: (): boolean => observer.record?.holder === identity,
    release: async (): Promise<void> => {
      end();
      await write("", 1000, timing.renewDeadlineMs / 2);
    },
    lose: end,
    sinceRenewalMs: (): number => (renewedAt ? elapsedSince(clock, renewedAt) : Infinity),
  };
};

/**
 * Leader election over a Lease, with client-go's rules: a lease is taken only after this process itself has seen it
 * unchanged for its whole duration, and leading ends `renewDeadlineMs` after the last renewal was *sent*, which is
 * before anyone else may begin.
 */
export const createLeaderElector = (options: LeaderElectorOptions): LeaderElector => {
  const { client, namespace, name, identity, logger, labels } = options;
  const timing = readTiming(options);
  const holder = createHolder(createLeaseStore(client, { namespace, name }, labels), options, timing);
  const about = { lease: `${namespace}/${name}`, identity };

  const isLeading = (): boolean => holder.sinceRenewalMs() < timing.renewDeadlineMs;

  const attempt = async (): Promise<boolean> => {
    try {
      return await holder.attempt();
    } catch (err) {
      logger.warn({ ...about, err }, "lease could not be read or written");
      return false;
    }
  };

  /** A renewal that hangs must not hide that the time is up. */
  const attemptWithin = async (ms: number): Promise<boolean> => {
    const settled = new AbortController();
    try {
      return await Promise.race([attempt(), pause(Math.max(0, ms), settled.signal).then(() => false)]);
    } finally {
      settled.abort();
    }
  };

  const acquire = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !(await attempt())) {
      await pause(timing.retryPeriodMs * (0.8 + Math.random() * 0.4), signal);
    }
  };

  /** Renews until `stop` aborts; throws when the lease is lost. Short steps, so that the loss is seen when it comes. */
  const renew = async (stop: AbortSignal): Promise<void> => {
    while (!stop.aborted) {
      const remaining = timing.renewDeadlineMs - holder.sinceRenewalMs();
      await pause(Math.max(0, Math.min(timing.retryPeriodMs, remaining)), stop);
      if (stop.aborted) return;
      if (!isLeading()) throw lost("was not renewed in time");
      const renewed = await attemptWithin(timing.renewDeadlineMs - holder.sinceRenewalMs());
      if (!renewed && !holder.holdsRecord()) throw lost("was taken by another");
    }
  };

  const lost = (how: string): LeadershipLostError => {
    holder.lose();
    return new LeadershipLostError(`the lease ${namespace}/${name} ${how}; this process must not write any more`);
  };

  const release = async (): Promise<void> => {
    try {
      await holder.release();
      logger.info(about, "lease released");
    } catch (err) {
      logger.warn({ ...about, err }, "lease could not be released; the next leader waits until it runs out");
    }
  };

  /** Both run at once: `lead` ends → renewing stops; the lease is lost → `lead` is told, and not waited for. */
  const leadAndRenew = async (signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const leading = new AbortController();
    const renewing = new AbortController();
    const stopLeading = (): void => leading.abort(signal.reason);
    signal.addEventListener("abort", stopLeading, { once: true });
    const led = lead(leading.signal).finally(() => renewing.abort());
    led.catch(() => undefined);
    try {
      await renew(renewing.signal);
      await led;
    } catch (error) {
      leading.abort(error);
      throw error;
    } finally {
      signal.removeEventListener("abort", stopLeading);
      if (isLeading()) await release();
    }
  };

  return {
    isLeading,
    assertLeading: () => {
      if (!isLeading()) throw new NotLeadingError(`${identity} does not hold the lease ${namespace}/${name}`);
    },
    writeWindowMs: () => (isLeading() ? Math.max(0, timing.leaseDurationMs - holder.sinceRenewalMs()) : 0),
    run: async (signal, lead) => {
      logger.info(about, "waiting for the lease");
      await acquire(signal);
      if (signal.aborted) {
        if (isLeading()) await release();
        return;
      }
      logger.info(about, "leading");
      await leadAndRenew(signal, lead);
    },
  };
};
