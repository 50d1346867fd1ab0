/**
 * Inside Jest `structuredClone` is that of the outer realm: its objects have another `Object.prototype`, by which
 * `isDeepStrictEqual` tells equal objects apart, and the store takes every status write for a change of the spec. The
 * cluster's objects are JSON, so a copy by JSON, whose objects are of this realm, is the same.
 */
export const useSameRealmClone = (): void => {
  globalThis.structuredClone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
};
