import { HEADERS, HOP_BY_HOP_HEADERS, PLATFORM_HEADER_PREFIX } from "@sless/contracts";

const HOP_BY_HOP: ReadonlySet<string> = new Set(HOP_BY_HOP_HEADERS);

/** What the client library or this package itself sets; `expect` is answered here, hop by hop. */
const SET_ANEW: readonly string[] = ["host", "content-length", "expect"];

/** A sender could bypass a check of dashes with underscores, which CGI-like frameworks treat alike (security 19). */
const isPlatformHeader = (lowerName: string): boolean =>
  lowerName.replaceAll("_", "-").startsWith(PLATFORM_HEADER_PREFIX);

/** Different spellings of header names that are remembered; hostile senders can't grow it further. */
const MAX_REMEMBERED_NAMES = 1024;

/** Remembers a verdict by a header's name as it was spelled, so that the hot path neither lowers nor compares it. */
const rememberByName = <T>(judge: (lowerName: string) => T): ((name: string) => T) => {
  const known = new Map<string, T>();
  return (name) => {
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const verdict = judge(name.toLowerCase());
    if (known.size < MAX_REMEMBERED_NAMES) known.set(name, verdict);
    return verdict;
  };
};

/** Names that a `Connection` header nominates as hop-by-hop; undefined in the usual case that it nominates none. */
export const nominatedHeaders = (connection: string | undefined): ReadonlySet<string> | undefined => {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  const names = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => name !== "" && name !== "keep-alive" && name !== "close"));
};

const withoutNominated = (headers: string[], nominated: ReadonlySet<string> | undefined): string[] => {
  if (nominated === undefined || nominated.size === 0) return headers;
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!nominated.has(name.toLowerCase())) kept.push(name, headers[index + 1] ?? "");
  }
  return kept;
};

/** Flat list of name, value, name, value …; duplicates and their order stay. */
export type HeaderList = string[];
export type RequestHeaderFilter = (rawHeaders: readonly string[], connection: string | undefined) => HeaderList;

/**
 * Makes the filter for what a client sent (security 19): hop-by-hop headers go, also those that `Connection` nominates,
 * every `x-sless-*`, and what the caller names in `also`. Values are Latin-1 strings as node:http reads them (R20).
 */
export const createRequestHeaderFilter = ({ also = [] }: { also?: readonly string[] } = {}): RequestHeaderFilter => {
  const dropped = new Set([...HOP_BY_HOP, ...SET_ANEW, ...also]);
  const isDropped = rememberByName((name) => dropped.has(name) || isPlatformHeader(name));
  return (rawHeaders, connection) => {
    const kept: HeaderList = [];
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] as string;
      if (!isDropped(name)) kept.push(name, rawHeaders[index + 1] as string);
    }
    return withoutNominated(kept, nominatedHeaders(connection));
  };
};

/** The head of a runtime's answer, taken apart. */
export interface AnswerHead {
  /** What may go to the client. */
  readonly headers: HeaderList;
  readonly versionUid: string | undefined;
  readonly fault: string | undefined;
  readonly runMs: number | undefined;
  readonly contentLength: number | undefined;
}

type Verdict = "keep" | "drop" | "version" | "fault" | "run" | "connection" | "length" | "type";

const SPECIAL: Readonly<Record<string, Verdict>> = {
  [HEADERS.versionUid]: "version",
  [HEADERS.fault]: "fault",
  [HEADERS.runMs]: "run",
  connection: "connection",
  "content-length": "length",
  "content-type": "type",
};

const judgeAnswerHeader =
  (also: ReadonlySet<string>) =>
  (name: string): Verdict => {
    if (also.has(name)) return "drop";
    const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
    if (special !== undefined) return special;
    return HOP_BY_HOP.has(name) || isPlatformHeader(name) ? "drop" : "keep";
  };

export type AnswerHeadReader = (raw: readonly Buffer[]) => AnswerHead;

/**
 * Makes the reader of answers' heads: the same rules in the other direction, and what the runtime says to the platform
 * is taken out. A second Content-Type is dropped (R17). Bytes stay as they are, as Latin-1 (R20).
 */
export const createAnswerHeadReader = ({ also = [] }: { also?: readonly string[] } = {}): AnswerHeadReader => {
  const verdictOf = rememberByName(judgeAnswerHeader(new Set(also)));
  return (raw) => {
    const headers: HeaderList = [];
    const found: Found = {};
    for (let index = 0; index < raw.length; index += 2) {
      const name = latin1(raw[index]);
      const verdict = verdictOf(name);
      if (verdict === "drop") continue;
      const value = latin1(raw[index + 1]);
      if (passesOn(verdict, found)) headers.push(name, value);
      if (verdict !== "keep") found[verdict] = value;
    }
    return {
      headers: withoutNominated(headers, nominatedHeaders(found.connection)),
      versionUid: found.version,
      fault: found.fault,
      runMs: maybeNumber(found.run),
      contentLength: maybeNumber(found.length),
    };
  };
};

type Found = Partial<Record<Verdict, string>>;

const latin1 = (bytes: Buffer | undefined): string => (bytes === undefined ? "" : bytes.toString("latin1"));

const maybeNumber = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

const passesOn = (verdict: Verdict, found: Found): boolean =>
  verdict === "keep" || verdict === "length" || (verdict === "type" && found.type === undefined);

/** Never in a trailer: framing, routing and what decides how the body is read (RFC 9110 6.5.1). */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  "content-length",
  "content-type",
  "content-encoding",
  "host",
  "set-cookie",
]);

/** Trailers that may go to the client, in the form that `addTrailers` takes. */
export const filterTrailers = (raw: readonly (Buffer | string)[]): [string, string][] => {
  const kept: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]);
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || NOT_IN_TRAILERS.has(lower) || isPlatformHeader(lower)) continue;
    const value = raw[index + 1] as Buffer | string;
    kept.push([name, typeof value === "string" ? value : value.toString("latin1")]);
  }
  return kept;
};
