import type { ObjectMeta } from "@sless/contracts";

/** Keeps the fields that have a value, as `exactOptionalPropertyTypes` asks. */
export const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** What every item's body says of its object. */
export const toMetaBody = ({ name, namespace, uid, generation, creationTimestamp }: ObjectMeta) => ({
  name,
  namespace: namespace ?? "",
  uid: uid ?? "",
  generation: generation ?? 0,
  created_at: creationTimestamp ?? "",
});
