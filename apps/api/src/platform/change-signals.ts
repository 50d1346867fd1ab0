import type { Informer } from "@sless/kube";

export interface ChangeSignals {
  /** Calls the listener after each change of the object (`namespace/name`, or `name`). Returns its removal. */
  subscribe(key: string, listener: () => void): () => void;
}

/** Hands an informer's events to whoever waits for that one object. It says that something changed, never what. */
export const createChangeSignals = (informer: Pick<Informer<unknown>, "addHandler">): ChangeSignals => {
  const listeners = new Map<string, Set<() => void>>();
  const tell = (key: string): void => listeners.get(key)?.forEach((listener) => listener());
  informer.addHandler({
    onAdd: (_value, key) => tell(key),
    onUpdate: (_value, _old, key) => tell(key),
    onDelete: (_old, key) => tell(key),
  });
  return {
    subscribe: (key, listener) => {
      const those = listeners.get(key) ?? new Set();
      listeners.set(key, those.add(listener));
      return () => {
        those.delete(listener);
        if (those.size === 0 && listeners.get(key) === those) listeners.delete(key);
      };
    },
  };
};
