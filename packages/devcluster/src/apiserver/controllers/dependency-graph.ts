import type { KubeObject, OwnerReference, ResourceType } from "../../store/types.js";

/** An object as the garbage collector knows it. */
export interface Node {
  type: ResourceType;
  namespace: string | undefined;
  name: string;
  uid: string;
  owners: readonly OwnerReference[];
  deleting: boolean;
  finalizers: readonly string[];
}

export const toNode = (type: ResourceType, { metadata }: KubeObject): Node => ({
  type,
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid ?? "",
  owners: metadata.ownerReferences ?? [],
  deleting: metadata.deletionTimestamp !== undefined,
  finalizers: metadata.finalizers ?? [],
});

/** Who owns whom, by uid; owners may be unknown here until they are looked up. */
export class DependencyGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  put(node: Node): void {
    this.remove(node.uid);
    this.#nodes.set(node.uid, node);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, dependents.add(node.uid));
    }
  }

  remove(uid: string): void {
    for (const owner of this.#nodes.get(uid)?.owners ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    this.#nodes.delete(uid);
  }

  dependentsOf(uid: string): Node[] {
    return [...(this.#dependents.get(uid) ?? [])]
      .map((dependent) => this.#nodes.get(dependent))
      .filter((node) => node !== undefined);
  }
}
