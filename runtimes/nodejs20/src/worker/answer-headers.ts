import { PLATFORM_HEADER_PREFIX } from "../shared/protocol.js";
import { BadResult, typeName } from "./bad-result.js";

/** Header names and values in turn, as `writeHead` takes them. */
export type FlatHeaders = string[];

/** They describe the connection or the framing, which are the runtime's, not the handler's (RFC 9110, section 7.6.1). */
const DROPPED = new Set([
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN_IN_VALUE = /[\0-\x08\n-\x1f\x7f]/;
const BEYOND_ASCII = /[^\0-\x7f]/;
const BEYOND_LATIN1 = /[^\0-\xff]/;

const checkedName = (name: string): string => {
  if (TOKEN.test(name)) return name;
  throw new BadResult(`the header name ${JSON.stringify(name.slice(0, 80))} is not valid: letters, digits and hyphens`);
};

const isPlain = (value: unknown): value is string | number | boolean | bigint =>
  ["string", "number", "boolean", "bigint"].includes(typeof value);

/** Text of one value; undefined leaves the header out. Text beyond Latin-1 travels as its UTF-8 bytes. */
const valueText = (name: string, value: unknown): string | undefined => {
  if (value === null || value === undefined) return undefined;
  if (!isPlain(value)) {
    throw new BadResult(`the value of header ${name} is of type ${typeName(value)}: use a string, number or boolean`);
  }
  const text = String(value);
  if (FORBIDDEN_IN_VALUE.test(text)) {
    throw new BadResult(`the value of header ${name} holds a control character, such as a line break`);
  }
  return BEYOND_LATIN1.test(text) ? Buffer.from(text).toString("latin1") : text;
};

const entriesOf = (field: string, map: unknown): [string, unknown][] => {
  if (map === undefined || map === null) return [];
  if (typeof map !== "object" || Array.isArray(map)) {
    throw new BadResult(`${field} is of type ${typeName(map)}: use an object of names and values`);
  }
  return Object.entries(map);
};

/** The headers of an answer by lower-case name; the last spelling of a name wins. */
export class AnswerHeaders {
  private readonly byName = new Map<string, { name: string; values: string[] }>();
  /** Whether a value holds bytes beyond ASCII. */
  beyondAscii = false;

  has(name: string): boolean {
    return this.byName.has(name);
  }

  set(name: string, values: string[]): void {
    this.byName.set(name.toLowerCase(), { name, values });
    this.beyondAscii ||= values.some((text) => BEYOND_ASCII.test(text));
  }

  /** Removes a header and returns its value. */
  take(name: string): string | undefined {
    const value = this.byName.get(name)?.values[0];
    this.byName.delete(name);
    return value;
  }

  /** Removes `Connection` and the headers that it names: like it, they end at the next hop (D39). */
  dropConnection(): void {
    const nominated = this.byName.get("connection")?.values ?? [];
    this.byName.delete("connection");
    for (const name of nominated.join().split(",")) this.byName.delete(name.trim().toLowerCase());
  }

  flat(): FlatHeaders {
    const flat: FlatHeaders = [];
    for (const { name, values } of this.byName.values()) for (const value of values) flat.push(name, value);
    return flat;
  }
}

/**
 * Takes the `headers` and `multiValueHeaders` of an envelope; a name that is in both is taken from the second.
 *
 * @throws BadResult naming the header that cannot be sent
 */
export const parseAnswerHeaders = (headers: unknown, multiValueHeaders: unknown): AnswerHeaders => {
  const parsed = new AnswerHeaders();
  for (const [name, value] of entriesOf("headers", headers)) takeHeader(parsed, name, value);
  for (const [name, value] of entriesOf("multiValueHeaders", multiValueHeaders)) takeHeader(parsed, name, value);
  parsed.dropConnection();
  return parsed;
};

const takeHeader = (parsed: AnswerHeaders, name: string, value: unknown): void => {
  const key = checkedName(name).toLowerCase();
  if (DROPPED.has(key) || key.startsWith(PLATFORM_HEADER_PREFIX)) return;
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  const values = given.map((one) => valueText(name, one)).filter((text) => text !== undefined);
  if (values.length > 0) parsed.set(name, values);
};
