import { LIMITS } from "@sless/contracts";
import { InvalidJson, InvalidRequest } from "../errors.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);

/** Deepest nesting of a JSON text, read in one pass without parsing; strings are skipped. */
export const nestingOf = (json: Uint8Array): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (OPEN.has(byte)) deepest = Math.max(deepest, ++depth);
    else if (CLOSE.has(byte)) depth -= 1;
  }
  return deepest;
};

const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** A JSON pointer with one more step (RFC 6901). */
export const pointerTo = (parent: string, key: PropertyKey): string =>
  `${parent}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

const findForbiddenKey = (value: unknown, pointer: string): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const here = pointerTo(pointer, key);
    if (!Array.isArray(value) && FORBIDDEN_KEYS.has(key)) return here;
    const below = findForbiddenKey(child, here);
    if (below !== undefined) return below;
  }
  return undefined;
};

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new InvalidJson("The body is not valid UTF-8.");
  }
};

const parseText = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidJson(
      `The body is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : "unreadable"}.`,
    );
  }
};

/**
 * Parses a body whose size is already bounded; nesting is bounded before parsing, and names that could reach a
 * prototype are refused (security 22).
 * @throws InvalidJson, InvalidRequest
 */
export const parseJson = (bytes: Uint8Array): unknown => {
  if (bytes.length === 0) throw new InvalidJson("The body is empty; send a JSON object.");
  const depth = nestingOf(bytes);
  if (depth > LIMITS.jsonDepth) {
    throw new InvalidJson(`The body is nested ${depth} deep; at most ${LIMITS.jsonDepth} levels are read.`);
  }
  const value = parseText(decodeUtf8(bytes));
  const forbidden = findForbiddenKey(value, "");
  if (forbidden !== undefined) {
    const message = "is a name that is never accepted";
    throw new InvalidRequest(`${forbidden} ${message}.`, [{ pointer: forbidden, message }]);
  }
  return value;
};
