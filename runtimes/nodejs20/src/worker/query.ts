import { unescape } from "node:querystring";
import { makeNameMap } from "./name-map.js";
import type { NameMap } from "./name-map.js";

export interface Query {
  /** The last value of each name. */
  readonly single: NameMap<string>;
  readonly multi: NameMap<string[]>;
}

/** Pairs beyond this are dropped. */
const MAX_PAIRS = 1000;

/** Percent-encoding and plus signs undone; what is no valid encoding stays as it is. */
const decode = (text: string): string => {
  if (!text.includes("%") && !text.includes("+")) return text;
  return unescape(text.replaceAll("+", " "));
};

/**
 * Parses a query as forms write it (application/x-www-form-urlencoded).
 *
 * @param query the target's part after the question mark
 */
export const parseQuery = (query: string): Query => {
  const single = makeNameMap<string>();
  const multi = makeNameMap<string[]>();
  // No `split`: with a limit it is slower than all the rest of an event.
  for (let from = 0, pairs = 0; from < query.length && pairs < MAX_PAIRS; pairs++) {
    const mark = query.indexOf("&", from);
    const end = mark < 0 ? query.length : mark;
    if (end > from) takePair(query, { from, end }, { single, multi });
    from = end + 1;
  }
  return { single, multi };
};

const takePair = (query: string, { from, end }: { from: number; end: number }, { single, multi }: Query): void => {
  const mark = query.indexOf("=", from);
  const equals = mark < 0 || mark > end ? end : mark;
  const name = decode(query.slice(from, equals));
  const value = decode(query.slice(equals + 1, end));
  single[name] = value;
  const earlier = multi[name];
  if (earlier === undefined) multi[name] = [value];
  else earlier.push(value);
};
