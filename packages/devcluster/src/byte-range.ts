export interface ByteRange {
  start: number;
  /** Inclusive, as in a Range header. */
  end: number;
}

/**
 * Reads a Range header of one range (RFC 9110, 14.1.2).
 * @returns nothing without a header or for a shape that a server may ignore; `unsatisfiable` when it lies outside
 */
export const parseByteRange = (header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined => {
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header ?? "");
  if (!match) return undefined;
  const [, from, to, last] = match;
  const start = from === undefined ? Math.max(0, size - Number(last)) : Number(from);
  const end = to ? Math.min(Number(to), size - 1) : size - 1;
  return start > end ? "unsatisfiable" : { start, end };
};
