import type { KubeObject } from "./object.js";

/**
 * The JSON of a class of @kubernetes/client-node, which renames fields that are JavaScript keywords (`_from`) and
 * parses times into Dates. This package hands objects over as they are on the wire.
 */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [K in keyof T as K extends `_${infer Bare}` ? Bare : K]: Wire<T[K]> }
      : T;

/** An object of a generated class as it is on the wire, with its metadata always there. */
export type WireObject<T> = Omit<Wire<T>, "apiVersion" | "kind" | "metadata"> & KubeObject;
