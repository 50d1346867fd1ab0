import { qualifiedResource } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import type { ServedType, TypeCatalogue } from "../type-catalogue.js";
import { makeCustomType } from "./custom-type.js";
import { definitionSpec } from "./definition.js";

/** Keeps the catalogue at what the definitions in the store say: called with each state of one. */
export class DefinitionRegistrar {
  readonly #catalogue: TypeCatalogue;

  constructor(catalogue: TypeCatalogue) {
    this.#catalogue = catalogue;
  }

  put(definition: KubeObject): void {
    const served = makeCustomType(definition);
    if (!served) return this.remove(definition);
    this.#catalogue.add(definition.metadata.deletionTimestamp ? closed(served) : served);
  }

  remove(definition: KubeObject): void {
    const { group, names } = definitionSpec(definition);
    this.#catalogue.remove({ group, plural: names.plural });
  }

  /** Why a new definition's names cannot be served, if so. */
  conflictOf(definition: KubeObject): string | undefined {
    const { group, names } = definitionSpec(definition);
    if (!names?.plural) return undefined;
    const other = this.#catalogue
      .types()
      .find((type) => type.group === group && (type.plural === names.plural || type.kind === names.kind));
    return other && `${qualifiedResource(other)} (${other.kind}) has the plural or the kind already`;
  }
}

/** A definition that is being deleted takes no new objects. */
const closed = ({ type, rules }: ServedType): ServedType => ({
  type: { ...type, verbs: type.verbs.filter((verb) => verb !== "create") },
  rules,
});
