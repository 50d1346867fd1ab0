import { HEADERS, HOP_BY_HOP_HEADERS, PLATFORM_HEADER_PREFIX } from "@sless/contracts";

/** A list of names and values as node:http and undici have them: name, value, name, value, … */
export type RawHeaders = readonly string[];

/** Credentials of the caller for this API, and what only a proxy may say (security 19, 20). */
const NEVER_FORWARDED = new Set([...HOP_BY_HOP_HEADERS, "host", "authorization", "cookie", "expect", "forwarded"]);

/** What would let a function act on the API's origin in a browser (security 20). */
const NEVER_RETURNED = new Set([
  ...HOP_BY_HOP_HEADERS,
  "set-cookie",
  "set-cookie2",
  "strict-transport-security",
  "clear-site-data",
  "service-worker-allowed",
  "public-key-pins",
  "alt-svc",
  "nel",
  "report-to",
  "reporting-endpoints",
  "www-authenticate",
  "content-security-policy",
  "content-security-policy-report-only",
  "x-content-type-options",
  "x-request-id",
]);

const GATEWAY_SAYS = new Set<string>([HEADERS.requestId, HEADERS.version, HEADERS.faultSource, HEADERS.fault]);

/** Header names with `_` reach some servers as `-`. */
const isPlatforms = (name: string): boolean => name.replaceAll("_", "-").startsWith(PLATFORM_HEADER_PREFIX);

const pairsOf = (raw: RawHeaders): (readonly [string, string])[] =>
  Array.from({ length: Math.floor(raw.length / 2) }, (_, index) => [raw[2 * index] ?? "", raw[2 * index + 1] ?? ""]);

/** Headers that a Connection header nominates end at this hop too (RFC 9110). */
const nominatedBy = (pairs: readonly (readonly [string, string])[]): Set<string> =>
  new Set(
    pairs
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.split(",").map((token) => token.trim().toLowerCase())),
  );

const keep = (raw: RawHeaders, allows: (name: string) => boolean): [string, string][] => {
  const pairs = pairsOf(raw);
  const nominated = nominatedBy(pairs);
  return pairs
    .filter(([name]) => !nominated.has(name.toLowerCase()) && allows(name.toLowerCase()))
    .map(([n, v]) => [n, v]);
};

/** Headers of a call that reach the function, in order and with repetitions. */
export const requestHeaders = (raw: RawHeaders, caller: string): string[] => [
  ...keep(raw, (name) => !NEVER_FORWARDED.has(name) && !name.startsWith("x-forwarded-") && !isPlatforms(name)).flat(),
  HEADERS.caller,
  caller,
];

/** Headers of a function's answer that reach the caller, name by name. */
export const responseHeaders = (raw: RawHeaders): Map<string, string[]> => {
  const headers = new Map<string, string[]>();
  const kept = keep(raw, (name) => !NEVER_RETURNED.has(name) && (!isPlatforms(name) || GATEWAY_SAYS.has(name)));
  for (const [name, value] of kept) {
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  return headers;
};
