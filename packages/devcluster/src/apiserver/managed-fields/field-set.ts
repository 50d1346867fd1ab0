type FieldsV1 = { [element: string]: FieldsV1 };

/**
 * A set of paths into an object, as a tree: the in-memory form of `fieldsV1`. Elements of paths are written as
 * there: `f:name`, `k:{"name":"x"}` for an item by its keys, `v:"x"` for an item of a set.
 */
export class FieldSet {
  /** Whether the path that leads here is itself in the set. */
  #member = false;
  readonly #children = new Map<string, FieldSet>();

  static fromFieldsV1(fields: Record<string, unknown>): FieldSet {
    const set = new FieldSet();
    const elements = Object.entries(fields);
    set.#member = elements.length === 0;
    for (const [element, below] of elements) {
      if (element === ".") set.#member = true;
      else set.#children.set(element, FieldSet.fromFieldsV1(below as Record<string, unknown>));
    }
    return set;
  }

  toFieldsV1(): FieldsV1 {
    const fields: FieldsV1 = {};
    if (this.#member && this.#children.size > 0) fields["."] = {};
    for (const [element, child] of [...this.#children].sort(([a], [b]) => (a < b ? -1 : Number(a > b))))
      if (!child.isEmpty()) fields[element] = child.toFieldsV1();
    return fields;
  }

  isEmpty(): boolean {
    return !this.#member && [...this.#children.values()].every((child) => child.isEmpty());
  }

  get isMember(): boolean {
    return this.#member;
  }

  addSelf(): void {
    this.#member = true;
  }

  child(element: string): FieldSet | undefined {
    return this.#children.get(element);
  }

  /** The child of an element, made if it is not there. */
  ensureChild(element: string): FieldSet {
    let child = this.#children.get(element);
    if (!child) this.#children.set(element, (child = new FieldSet()));
    return child;
  }

  static #combine(left: FieldSet, right: FieldSet, keep: (inLeft: boolean, inRight: boolean) => boolean): FieldSet {
    const result = new FieldSet();
    result.#member = keep(left.#member, right.#member);
    const put = (element: string, a: FieldSet, b: FieldSet): void => {
      const child = FieldSet.#combine(a, b, keep);
      if (child.#member || child.#children.size > 0) result.#children.set(element, child);
    };
    for (const [element, child] of left.#children) put(element, child, right.#children.get(element) ?? EMPTY);
    for (const [element, child] of right.#children) if (!left.#children.has(element)) put(element, EMPTY, child);
    return result;
  }

  union(other: FieldSet): FieldSet {
    return FieldSet.#combine(this, other, (a, b) => a || b);
  }

  intersection(other: FieldSet): FieldSet {
    return FieldSet.#combine(this, other, (a, b) => a && b);
  }

  difference(other: FieldSet): FieldSet {
    return FieldSet.#combine(this, other, (a, b) => a && !b);
  }

  /** Without the given paths and all that is below them. */
  without(paths: readonly (readonly string[])[]): FieldSet {
    const copy = this.union(new FieldSet());
    for (const path of paths) copy.#drop(path);
    return copy;
  }

  #drop([element, ...rest]: readonly string[]): void {
    if (element === undefined) return;
    const child = this.#children.get(element);
    if (rest.length === 0) this.#children.delete(element);
    else if (child) child.#drop(rest);
  }

  /** The same set with every path's ancestors in it. */
  withAncestors(): FieldSet {
    const set = new FieldSet();
    for (const [element, child] of this.#children)
      if (!child.isEmpty()) set.#children.set(element, child.withAncestors());
    set.#member = this.#member || set.#children.size > 0;
    return set;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty() && other.difference(this).isEmpty();
  }

  /** The members as paths for people: `.spec.containers[name="a"].image`. */
  paths(prefix = ""): string[] {
    const own = this.#member ? [prefix] : [];
    return [
      ...own,
      ...[...this.#children]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([element, child]) => child.paths(prefix + printElement(element))),
    ];
  }
}

const EMPTY = new FieldSet();

const printElement = (element: string): string => {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (!element.startsWith("k:")) return `[=${text}]`;
  const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
};
