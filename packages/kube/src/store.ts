/** Reads of a cache. What it hands out is deep-frozen: clone before changing. Keys are `namespace/name` or `name`. */
export interface Cache<V> {
  get: (key: string) => V | undefined;
  list: () => V[];
  /** Values that the index function filed under `term`. Throws for an index that was not declared. */
  byIndex: (index: string, term: string) => V[];
  readonly size: number;
}

/** For each index its name and the terms it files a value under. */
export type Indexers<V> = Readonly<Record<string, (value: V) => readonly string[]>>;

export interface Store<V> extends Cache<V> {
  /** Returns what was there before. */
  set: (key: string, value: V) => V | undefined;
  delete: (key: string) => V | undefined;
  keys: () => string[];
}

/** Freezes plain JSON all the way down. */
export const deepFreeze = <V>(value: V): V => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
};

/** A keyed store with indexes kept on every change. */
export const createStore = <V>(indexers: Indexers<V> = {}): Store<V> => {
  const values = new Map<string, V>();
  const indexes = new Map(Object.keys(indexers).map((name) => [name, new Map<string, Set<string>>()]));

  const file = (key: string, value: V): void => {
    for (const [name, terms] of indexes) {
      for (const term of indexers[name]?.(value) ?? []) {
        const keys = terms.get(term) ?? new Set();
        terms.set(term, keys.add(key));
      }
    }
  };

  const unfile = (key: string, value: V): void => {
    for (const [name, terms] of indexes) {
      for (const term of indexers[name]?.(value) ?? []) {
        const keys = terms.get(term);
        keys?.delete(key);
        if (keys?.size === 0) terms.delete(term);
      }
    }
  };

  const remove = (key: string): V | undefined => {
    const old = values.get(key);
    if (old !== undefined) unfile(key, old);
    values.delete(key);
    return old;
  };

  return {
    get: (key) => values.get(key),
    list: () => [...values.values()],
    byIndex: (index, term) => {
      const terms = indexes.get(index);
      if (!terms) throw new TypeError(`the cache has no index "${index}"; declare it when the informer is created`);
      return [...(terms.get(term) ?? [])].flatMap((key) => values.get(key) ?? []);
    },
    get size() {
      return values.size;
    },
    set: (key, value) => {
      const frozen = deepFreeze(value);
      const old = remove(key);
      values.set(key, frozen);
      file(key, frozen);
      return old;
    },
    delete: remove,
    keys: () => [...values.keys()],
  };
};
