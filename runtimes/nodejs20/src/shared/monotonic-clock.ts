/**
 * Milliseconds of the machine's monotonic clock. `performance.now()` starts at zero in each process; this one has the
 * same origin in all of them, so that supervisor and worker can compare times, and a step of the wall clock moves none.
 */
const processOffset = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const monotonicMs = (): number => performance.now() + processOffset;
