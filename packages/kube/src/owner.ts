import { NotOwnedError } from "./errors.js";
import { keyOf, type KubeObject } from "./object.js";

/** Whose an object is: the label with the owner's uid, which holds across namespaces, where owner references do not. */
export interface Owner {
  labelKey: string;
  uid: string;
}

/** True when the object carries the owner's uid. */
export const isOwnedBy = (object: KubeObject, owner: Owner): boolean =>
  owner.uid !== "" && object.metadata.labels?.[owner.labelKey] === owner.uid;

/** Throws NotOwnedError unless the live object carries the owner's uid. The message never names the other owner. */
export const assertOwnedBy = (live: KubeObject, owner: Owner): void => {
  if (isOwnedBy(live, owner)) return;
  throw new NotOwnedError(
    `${live.kind ?? "object"} ${keyOf(live)} exists and is not labelled ${owner.labelKey}=${owner.uid}; ` +
      `it is left alone: rename or remove it`,
  );
};
