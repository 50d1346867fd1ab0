import type { ClusterStore } from "../../store/types.js";
import { RESOURCES } from "../resource-table.js";
import { startDefinitionController } from "./definition-controller.js";
import { GarbageCollector } from "./garbage-collector.js";
import { startNamespaceController } from "./namespace-controller.js";

/**
 * The controllers without which the API itself would be incomplete: garbage collection and the end of
 * namespaces and of custom resource definitions. Those that run workloads belong to the node half.
 * @returns stops them
 */
export const startCoreControllers = (store: ClusterStore): (() => void) => {
  const collector = new GarbageCollector(store);
  collector.sync();
  const stopTypes = store.watch(RESOURCES.customResourceDefinitions, {}, () => collector.sync());
  const stopDefinitions = startDefinitionController(store);
  const stopNamespaces = startNamespaceController(store);
  return () => {
    stopTypes();
    stopDefinitions();
    stopNamespaces();
    collector.stop();
  };
};
