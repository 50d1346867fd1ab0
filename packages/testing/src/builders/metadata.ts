import { API_GROUP_VERSION, type ObjectMeta } from "@sless/contracts";

/** The tenant that builders place their objects in unless told otherwise. */
export const TENANT_HASH = "0123456789abcdef".repeat(4);
export const TENANT_NAMESPACE = "sless-0123456789abcdef";

/** A day on which everything that builders make was created; tests move their clock from here. */
export const CREATED_AT = "2030-01-01T00:00:00Z";

/** What a test may say of an object; the rest is filled in. */
export interface Overrides<Spec, Status> {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<Spec>;
  readonly status?: Status;
}

/** A uid that is valid and tells in a failing test whose it is. */
export const uidOf = (kind: string, name: string): string =>
  `${Buffer.from(`${kind}/${name}`).toString("hex")}00000000`.slice(0, 64);

export const makeMetadata = (kind: string, defaults: ObjectMeta, given: Partial<ObjectMeta> = {}): ObjectMeta => ({
  uid: uidOf(kind, given.name ?? defaults.name),
  resourceVersion: "100",
  generation: 1,
  creationTimestamp: CREATED_AT,
  ...defaults,
  ...given,
});

export const apiVersion = API_GROUP_VERSION;
