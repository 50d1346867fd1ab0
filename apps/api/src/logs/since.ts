import { invalidField } from "../errors.js";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3600_000, d: 86_400_000 };

/**
 * Reads `since`: a duration back from now (90s, 15m, 2h, 1d) or an RFC 3339 time.
 * @throws InvalidRequest
 */
export const parseSince = (text: string, now: number): Date => {
  const duration = /^(\d{1,6})([smhd])$/.exec(text);
  if (duration) return new Date(now - Number(duration[1]) * (UNITS[duration[2] ?? "s"] ?? 0));
  const isTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
  if (!isTime) throw invalidField("since", "must be a duration such as 90s, 15m, 2h or an RFC 3339 time");
  return new Date(text);
};
