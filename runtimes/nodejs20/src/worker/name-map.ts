/**
 * A map whose names come from outside: nothing is inherited, so that `__proto__` and `constructor` are names like any
 * other. An instance of this class is several times as fast to fill as `Object.create(null)`, which V8 keeps as a hash
 * table from the start (Node's own query string parser does the same).
 */
export interface NameMap<T> {
  [name: string]: T;
}

const EmptyMap = function () {} as unknown as { new (): object; prototype: object | null };
EmptyMap.prototype = Object.create(null) as object;

export const makeNameMap = <T>(): NameMap<T> => new EmptyMap() as NameMap<T>;
