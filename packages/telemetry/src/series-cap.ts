/** Value of a label that stands for every name beyond the cap. */
export const OVERFLOW_LABEL = "_other";

export interface SeriesCap {
  /** The name itself while there is room for it, else `OVERFLOW_LABEL`. */
  label(name: string): string;
  /** Frees the name's place, for another. */
  release(name: string): void;
}

/**
 * Bounds how many different values one label takes in this process, so that tenants cannot flood the metrics store
 * with names (security 29). Names keep their place until they are released.
 */
export const createSeriesCap = (max: number): SeriesCap => {
  const names = new Set<string>();
  return {
    label: (name) => {
      if (names.has(name)) return name;
      if (names.size >= max) return OVERFLOW_LABEL;
      names.add(name);
      return name;
    },
    release: (name) => void names.delete(name),
  };
};
