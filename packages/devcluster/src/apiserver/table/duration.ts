const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const withRest = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;

/** `45s`, `3m12s`, `5h`, `2d4h`: as duration.HumanDuration of apimachinery prints seconds. */
export const humanDuration = (seconds: number): string => {
  if (seconds < 0) return seconds < -1 ? "<invalid>" : "0s";
  const whole = Math.floor(seconds);
  if (whole < 2 * MINUTE) return `${whole}s`;
  const minutes = Math.floor(whole / MINUTE);
  if (minutes < 10) return withRest(minutes, "m", whole % MINUTE, "s");
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(whole / HOUR);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(whole / YEAR);
  return years < 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
};

/** Time since a timestamp, as ages are printed. */
export const humanAge = (timestamp: string | undefined, now: number): string =>
  timestamp ? humanDuration((now - Date.parse(timestamp)) / 1000) : "<unknown>";
