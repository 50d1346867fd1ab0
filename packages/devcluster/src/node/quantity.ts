const BINARY: Record<string, number> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const DECIMAL: Record<string, number> = { n: -3, u: -2, m: -1, "": 0, k: 1, M: 2, G: 3, T: 4, P: 5, E: 6 };
const PATTERN = /^([+-]?\d{1,18}(?:\.\d{0,9})?|[+-]?\.\d{1,9})(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d{1,2}))$/;

/**
 * The number that a Kubernetes quantity stands for (`500m` is 0.5, `128Mi` is 134217728).
 * @throws RangeError for anything else
 */
export const parseQuantity = (text: string | number): number => {
  const match = PATTERN.exec(String(text));
  if (!match) throw new RangeError(`${JSON.stringify(text)} is not a quantity such as 500m or 128Mi`);
  const [, number = "", binary, decimal, exponent] = match;
  if (binary) return Number(number) * 1024 ** (BINARY[binary] ?? 0);
  if (exponent) return Number(`${number}e${exponent}`);
  return Number(number) * 1000 ** (DECIMAL[decimal ?? ""] ?? 0);
};

/** Formats a sum as Kubernetes would: whole binary units for memory, milli for fractions of a core. */
export const formatQuantity = (value: number, unit: "count" | "cpu" | "memory"): string => {
  if (unit === "cpu") return Number.isInteger(value) ? String(value) : `${Math.ceil(value * 1000)}m`;
  if (unit === "count" || value === 0) return String(value);
  for (const suffix of ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"]) {
    const size = 1024 ** (BINARY[suffix] ?? 0);
    if (value % size === 0) return `${value / size}${suffix}`;
  }
  return String(Math.ceil(value));
};
