import { ApiStatusError, qualifiedResource } from "../../store/api-status-error.js";
import type {
  ClusterStore,
  KubeObject,
  OwnerReference,
  PropagationPolicy,
  ResourceType,
  WatchEvent,
} from "../../store/types.js";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../objects/deletion.js";
import { DependencyGraph, toNode, type Node } from "./dependency-graph.js";

/** What another writer's haste can cause; anything else is a fault. */
const isRefusal = (error: unknown): boolean => error instanceof ApiStatusError && error.code < 500;

/**
 * Deletes what its owners no longer hold, as kube-controller-manager's garbage collector does: in the
 * background after its last owner is gone, before it (foreground), or not at all (orphan).
 */
export class GarbageCollector {
  readonly #store: ClusterStore;
  readonly #graph = new DependencyGraph();
  readonly #watches = new Map<string, () => void>();
  #pending = new Set<string>();
  #stopped = false;

  constructor(store: ClusterStore) {
    this.#store = store;
  }

  /** Watches every type that is served; call again when the types change. */
  sync(): void {
    const served = new Map(
      this.#store
        .resourceTypes()
        .filter(({ verbs }) => verbs.includes("watch") && verbs.includes("delete"))
        .map((type) => [qualifiedResource(type), type]),
    );
    for (const [key, stop] of this.#watches) {
      if (served.has(key)) continue;
      stop();
      this.#watches.delete(key);
    }
    for (const [key, type] of served) {
      if (this.#watches.has(key)) continue;
      this.#watches.set(
        key,
        this.#store.watch(type, {}, (event) => this.#observe(type, event)),
      );
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#watches.values()) stop();
  }

  #observe(type: ResourceType, { type: event, object }: WatchEvent): void {
    const node = toNode(type, object);
    if (event !== "DELETED") {
      this.#graph.put(node);
      this.#schedule(node.uid);
      return;
    }
    this.#graph.remove(node.uid);
    for (const dependent of this.#graph.dependentsOf(node.uid)) this.#schedule(dependent.uid);
    // A foreground deletion of an owner may have waited for this one.
    for (const owner of node.owners) this.#schedule(owner.uid);
  }

  /** In a later macrotask, so that what is written in one turn has been observed whole. */
  #schedule(uid: string): void {
    if (this.#pending.size === 0) setImmediate(() => this.#process());
    this.#pending.add(uid);
  }

  #process(): void {
    if (this.#stopped) return;
    const uids = this.#pending;
    this.#pending = new Set();
    for (const uid of uids) {
      const node = this.#graph.get(uid);
      if (!node) continue;
      try {
        this.#settle(node);
      } catch (error) {
        // Another writer was quicker: its event brings the object back here.
        if (!isRefusal(error)) throw error;
      }
    }
  }

  #settle(node: Node): void {
    if (node.deleting && node.finalizers.includes(ORPHAN_FINALIZER)) return this.#orphanDependents(node);
    if (node.deleting && node.finalizers.includes(FOREGROUND_FINALIZER)) return this.#deleteDependents(node);
    if (!node.deleting && node.owners.length > 0) this.#collectIfUnowned(node);
  }

  #collectIfUnowned(node: Node): void {
    const owners = node.owners.map((reference) => ({ reference, state: this.#ownerState(node, reference) }));
    const solid = owners.filter(({ state }) => state === "solid");
    const gone = owners.filter(({ state }) => state === "absent");
    const waiting = owners.filter(({ state }) => state === "foreground");
    if (owners.length !== solid.length + gone.length + waiting.length) return;
    if (solid.length > 0) {
      const dangling = new Set([...gone, ...waiting].map(({ reference }) => reference.uid));
      if (dangling.size > 0) this.#dropOwners(node, dangling);
      return;
    }
    this.#delete(node, waiting.length > 0 ? "Foreground" : this.#ownPolicy(node));
  }

  #ownPolicy(node: Node): PropagationPolicy {
    return node.finalizers.includes(FOREGROUND_FINALIZER) ? "Foreground" : "Background";
  }

  /** `unknown`: its kind is not served, so nothing can be said, and nothing is deleted. */
  #ownerState(node: Node, reference: OwnerReference): "solid" | "foreground" | "absent" | "unknown" {
    const type = this.#typeOf(reference);
    if (!type) return "unknown";
    // A cluster-scoped object cannot be owned by a namespaced one; kube-apiserver's collector leaves it alone.
    if (type.namespaced && node.namespace === undefined) return "unknown";
    const owner = this.#store.get(type, type.namespaced ? node.namespace : undefined, reference.name);
    if (owner?.metadata.uid !== reference.uid) return "absent";
    const holds = owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes(FOREGROUND_FINALIZER);
    return holds ? "foreground" : "solid";
  }

  #typeOf({ apiVersion, kind }: OwnerReference): ResourceType | undefined {
    return this.#store.resourceTypes().find((type) => type.kind === kind && apiVersion === groupVersionOf(type));
  }

  #deleteDependents(owner: Node): void {
    const dependents = this.#graph.dependentsOf(owner.uid).filter((dependent) => this.#sameScope(owner, dependent));
    const blocking = dependents.filter((dependent) =>
      dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === owner.uid && blockOwnerDeletion === true),
    );
    for (const dependent of dependents) if (!dependent.deleting) this.#schedule(dependent.uid);
    if (blocking.length === 0) this.#removeFinalizer(owner, FOREGROUND_FINALIZER);
  }

  #sameScope(owner: Node, dependent: Node): boolean {
    return owner.namespace === undefined || owner.namespace === dependent.namespace;
  }

  #orphanDependents(owner: Node): void {
    for (const dependent of this.#graph.dependentsOf(owner.uid))
      if (this.#sameScope(owner, dependent)) this.#dropOwners(dependent, new Set([owner.uid]));
    this.#removeFinalizer(owner, ORPHAN_FINALIZER);
  }

  #delete(node: Node, propagationPolicy: PropagationPolicy): void {
    this.#store.delete(node.type, node.namespace, node.name, { uid: node.uid, propagationPolicy });
  }

  #dropOwners(node: Node, uids: ReadonlySet<string>): void {
    this.#change(node, (draft) => {
      const left = (draft.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
      if (left.length > 0) draft.metadata.ownerReferences = left;
      else delete draft.metadata.ownerReferences;
    });
  }

  #removeFinalizer(node: Node, finalizer: string): void {
    this.#change(node, (draft) => {
      draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    });
  }

  #change(node: Node, edit: (draft: KubeObject) => void): void {
    const current = this.#store.get(node.type, node.namespace, node.name);
    if (current?.metadata.uid !== node.uid) return;
    const draft = structuredClone(current);
    edit(draft);
    this.#store.update(node.type, draft);
  }
}

const groupVersionOf = (type: ResourceType): string =>
  type.group === "" ? type.version : `${type.group}/${type.version}`;
