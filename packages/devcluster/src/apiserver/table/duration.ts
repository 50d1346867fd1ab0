const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Below `until` seconds a duration is printed in this unit, with what is left over in a smaller one if that is named. */
interface Scale {
  until: number;
  unit: number;
  name: string;
  rest?: { unit: number; name: string };
}

/** As duration.HumanDuration of apimachinery has them. */
const SCALES: readonly Scale[] = [
  { until: 2 * MINUTE, unit: 1, name: "s" },
  { until: 10 * MINUTE, unit: MINUTE, name: "m", rest: { unit: 1, name: "s" } },
  { until: 3 * HOUR, unit: MINUTE, name: "m" },
  { until: 8 * HOUR, unit: HOUR, name: "h", rest: { unit: MINUTE, name: "m" } },
  { until: 2 * DAY, unit: HOUR, name: "h" },
  { until: 8 * DAY, unit: DAY, name: "d", rest: { unit: HOUR, name: "h" } },
  { until: 2 * YEAR, unit: DAY, name: "d" },
  { until: 8 * YEAR, unit: YEAR, name: "y", rest: { unit: DAY, name: "d" } },
  { until: Infinity, unit: YEAR, name: "y" },
];

/** `45s`, `3m12s`, `5h`, `2d4h`: seconds as kubectl prints them. */
export const humanDuration = (seconds: number): string => {
  // Clocks may differ by a little; more than that is nonsense.
  if (seconds < 0) return seconds < -1 ? "<invalid>" : "0s";
  const whole = Math.floor(seconds);
  const { unit, name, rest } = SCALES.find(({ until }) => whole < until) ?? { unit: 1, name: "s" };
  const left = rest ? Math.floor((whole % unit) / rest.unit) : 0;
  return `${Math.floor(whole / unit)}${name}${rest && left > 0 ? `${left}${rest.name}` : ""}`;
};

/** Time since a timestamp, as ages are printed. */
export const humanAge = (timestamp: string | undefined, now: number): string =>
  timestamp ? humanDuration((now - Date.parse(timestamp)) / 1000) : "<unknown>";
