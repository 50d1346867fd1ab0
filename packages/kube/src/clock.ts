/** Time, injected so that tests need not wait. */
export interface Clock {
  /** Wall clock in ms since the epoch. */
  now(): number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A point in time on both clocks. */
export interface Instant {
  wall: number;
  monotonic: number;
}

export const instantOf = (clock: Clock): Instant => ({ wall: clock.now(), monotonic: clock.monotonic() });

/**
 * Milliseconds since an instant, the longer of both clocks: the monotonic one stands still while the machine sleeps,
 * the wall clock may be set back. For leases, too long is safe and too short is not.
 */
export const elapsedSince = (clock: Clock, instant: Instant): number =>
  Math.max(clock.monotonic() - instant.monotonic, clock.now() - instant.wall);
