import { Readable } from "node:stream";
import { BadResult, typeName } from "./bad-result.js";

const isGenerator = (value: object): value is Generator =>
  Object.prototype.toString.call(value) === "[object Generator]";

/**
 * Readable streams of Node and the web, async iterables and generators, as one kind of source; undefined for all else.
 * Plain iterables (arrays, maps, sets) are data, not streams.
 */
export const asStream = (value: unknown): AsyncIterable<unknown> | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  if (Symbol.asyncIterator in value) return value as AsyncIterable<unknown>;
  return isGenerator(value) ? Readable.from(value, { objectMode: true }) : undefined;
};

/** @throws BadResult for a piece that is neither text nor bytes */
export const toChunk = (piece: unknown): string | Uint8Array => {
  if (typeof piece === "string" || piece instanceof Uint8Array) return piece;
  throw new BadResult(`the stream gave a piece of type ${typeName(piece)}: give strings or bytes`);
};
