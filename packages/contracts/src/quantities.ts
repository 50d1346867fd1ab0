const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const QUANTITY = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/**
 * Parses a Kubernetes quantity ("250m", "128Mi", "1e3") to a plain number of its base unit (cores, bytes).
 * @throws RangeError for text that is no quantity.
 */
export const parseQuantity = (text: string): number => {
  const match = QUANTITY.exec(text);
  if (!match) throw new RangeError(`not a quantity: ${JSON.stringify(text)} (examples: 250m, 128Mi)`);
  const [, digits, exponent, suffix] = match;
  return exponent === undefined ? Number(digits) * (SUFFIXES[suffix ?? ""] ?? 1) : Number(`${digits}${exponent}`);
};

/** Mebibytes as a quantity. */
export const mebibytes = (count: number): string => `${count}Mi`;

/** CPU that a function of this memory requests: one core for each 2 GiB, at least 10 thousandths. */
export const cpuRequest = (memoryMB: number): string => `${Math.max(10, Math.round((memoryMB * 1000) / 2048))}m`;
