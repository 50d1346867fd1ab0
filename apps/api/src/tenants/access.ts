import { Name } from "@sless/contracts";
import { NotFound } from "../errors.js";
import { pathParam, type Exchange } from "../http/exchange.js";
import type { ItemKey } from "../resources/items.js";
import type { Tenants } from "./service.js";

export type Access = Pick<Tenants, "resolve" | "forRead" | "forWrite">;

/** The namespace of a request that reads, or changes what is already there. @throws Forbidden, NotFound */
export const readable = async (access: Access, { req, principal }: Exchange): Promise<string> => {
  const namespace = access.resolve(principal, pathParam(req, "ns"));
  await access.forRead(principal, namespace);
  return namespace;
};

/** The namespace of a request that writes, made if it is the caller's first. @throws Forbidden, Conflict, Unavailable */
export const writable = async (access: Access, { req, principal, waitSignal }: Exchange): Promise<string> => {
  const namespace = access.resolve(principal, pathParam(req, "ns"));
  await access.forWrite(principal, namespace, waitSignal);
  return namespace;
};

/** The item that a request's path names. A name beyond the rule can't exist, so it never reaches the cluster. */
export const itemKey = ({ req }: Exchange, namespace: string): ItemKey => {
  const name = Name.safeParse(pathParam(req, "name"));
  if (!name.success)
    throw new NotFound("There is nothing of this name; names have 1–40 lower-case letters, digits and single dashes.");
  return { namespace, name: name.data };
};
