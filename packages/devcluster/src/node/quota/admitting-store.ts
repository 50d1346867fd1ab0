import type { ServedStore } from "../../apiserver/served-store.js";
import { admitByQuota } from "./quota.js";

/**
 * The store with quota admission before each create. Everybody is handed this one, API server and controllers alike,
 * so that no way leads around a quota.
 */
export const createAdmittingStore = (store: ServedStore): ServedStore => ({
  resourceTypes: () => store.resourceTypes(),
  get: (type, namespace, name) => store.get(type, namespace, name),
  list: (type, options) => store.list(type, options),
  listAt: (type, options, version) => store.listAt(type, options, version),
  find: (type) => store.find(type),
  create(type, object, options) {
    admitByQuota(store, type, object);
    return store.create(type, object, options);
  },
  update: (type, object, options) => store.update(type, object, options),
  delete: (type, namespace, name, options) => store.delete(type, namespace, name, options),
  watch: (type, options, listener) => store.watch(type, options, listener),
  resourceVersion: () => store.resourceVersion(),
  close: () => store.close(),
});
