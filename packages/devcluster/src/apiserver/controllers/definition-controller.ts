import type { ClusterStore, KubeObject, ResourceRef } from "../../store/types.js";
import { definitionSpec } from "../crd/definition.js";
import { CLEANUP_FINALIZER } from "../crd/definition-rules.js";
import { RESOURCES } from "../resource-table.js";

const refOf = (definition: KubeObject): ResourceRef => {
  const { group, names } = definitionSpec(definition);
  return { group, plural: names.plural };
};

/** Deletes all objects of a definition; answers how many something still holds. */
const deleteAll = (store: ClusterStore, ref: ResourceRef): number => {
  for (const { metadata } of store.list(ref).items)
    if (!metadata.deletionTimestamp) store.delete(ref, metadata.namespace, metadata.name);
  return store.list(ref).items.length;
};

/**
 * Lets a definition that is being deleted go once its objects are gone.
 * @returns stops it
 */
export const startDefinitionController = (store: ClusterStore): (() => void) => {
  const emptying = new Map<string, () => void>();
  const settle = (name: string): void => {
    const definition = store.get(RESOURCES.customResourceDefinitions, undefined, name);
    if (!definition?.metadata.deletionTimestamp) return;
    if (!definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    if (deleteAll(store, refOf(definition)) > 0) return;
    forget(name);
    const draft = structuredClone(definition);
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((one) => one !== CLEANUP_FINALIZER);
    store.update(RESOURCES.customResourceDefinitions, draft);
  };
  const forget = (name: string): void => {
    emptying.get(name)?.();
    emptying.delete(name);
  };
  const take = (definition: KubeObject): void => {
    const { name } = definition.metadata;
    if (emptying.has(name)) return;
    emptying.set(
      name,
      store.watch(refOf(definition), {}, ({ type }) => {
        if (type === "DELETED") settle(name);
      }),
    );
    settle(name);
  };
  const stopWatch = store.watch(RESOURCES.customResourceDefinitions, {}, ({ type, object }) => {
    if (type === "DELETED") forget(object.metadata.name);
    else if (object.metadata.deletionTimestamp && object.metadata.finalizers?.includes(CLEANUP_FINALIZER)) take(object);
  });
  return () => {
    stopWatch();
    for (const name of [...emptying.keys()]) forget(name);
  };
};
