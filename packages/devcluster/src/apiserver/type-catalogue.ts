import { qualifiedResource } from "../store/api-status-error.js";
import type { ResourceRef, ResourceType } from "../store/types.js";
import type { KindRules } from "./objects/kind-rules.js";

export interface ServedType {
  type: ResourceType;
  rules: KindRules;
}

/** What is served at the moment: the table, and the custom resources that were declared since. */
export class TypeCatalogue {
  readonly #served = new Map<string, ServedType>();

  constructor(builtIn: readonly ServedType[]) {
    for (const served of builtIn) this.#served.set(qualifiedResource(served.type), served);
  }

  find(ref: ResourceRef): ServedType | undefined {
    return this.#served.get(qualifiedResource(ref));
  }

  types(): readonly ResourceType[] {
    return [...this.#served.values()].map(({ type }) => type);
  }

  add(served: ServedType): void {
    this.#served.set(qualifiedResource(served.type), served);
  }

  remove(ref: ResourceRef): void {
    this.#served.delete(qualifiedResource(ref));
  }
}
