import { Storage } from "../store/storage.js";
import { RuledClusterStore } from "./cluster-store.js";
import { makeBuiltInRules } from "./objects/built-in-rules.js";
import { BUILT_IN_TYPES, RESOURCES } from "./resource-table.js";
import type { ServedStore } from "./served-store.js";
import { TypeCatalogue } from "./type-catalogue.js";

export interface OpenClusterStoreOptions {
  /** Where the state is kept; absent: in memory only. */
  directory?: string;
  /** Milliseconds since the epoch. */
  clock?: () => number;
}

const FIRST_NAMESPACES = ["default", "kube-system"];

/**
 * Opens the state of a cluster, a new one with its first namespaces.
 * @throws when another living process has the folder open, or its file is damaged
 */
export const openClusterStore = ({ directory, clock = Date.now }: OpenClusterStoreOptions = {}): ServedStore => {
  const storage = Storage.open(directory);
  const catalogue = new TypeCatalogue(BUILT_IN_TYPES.map((type) => ({ type, rules: makeBuiltInRules(type) })));
  const store = new RuledClusterStore({ storage, catalogue, clock });
  for (const name of FIRST_NAMESPACES)
    if (!store.get(RESOURCES.namespaces, undefined, name))
      store.create(RESOURCES.namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return store;
};
