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
  if (query === "") return { single, multi };
  for (const pair of query.split("&", MAX_PAIRS)) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    single[name] = value;
    const earlier = multi[name];
    if (earlier === undefined) multi[name] = [value];
    else earlier.push(value);
  }
  return { single, multi };
};
