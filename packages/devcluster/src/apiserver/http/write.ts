import { badRequest, notFound } from "../../store/api-status-error.js";
import type { KubeObject, NewKubeObject, WriteOptions } from "../../store/types.js";
import { invalid, invalidObject, invalidOptions, unsupported } from "../objects/field-error.js";
import { isObject } from "../schema/schema.js";
import { mediaTypeOf, parseBody, readBody } from "./body.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { checkFields } from "./field-validation.js";
import { representOne } from "./representation.js";

const OPTIONS_KINDS: Readonly<Record<string, string>> = {
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions",
};

/** `dryRun=All` is the only value there is. */
const parseDryRun = ({ query, request }: Exchange): boolean => {
  const values = query.getAll("dryRun").filter((value) => value !== "");
  if (values.every((value) => value === "All")) return values.length > 0;
  throw invalidOptions(OPTIONS_KINDS[request.method ?? ""] ?? "", [unsupported("dryRun", values, ["All"])]);
};

const MAX_MANAGER_LENGTH = 128;

/** The manager that a request names, or the program in its User-Agent, as kube-apiserver takes it. */
export const fieldManagerOf = ({ query, request }: Exchange): string => {
  const named = query.get("fieldManager");
  if (named && named.length > MAX_MANAGER_LENGTH)
    throw badRequest(`fieldManager: Too long: may not be more than ${MAX_MANAGER_LENGTH} bytes`);
  return named || (request.headers["user-agent"] ?? "unknown").split("/")[0]?.slice(0, MAX_MANAGER_LENGTH) || "unknown";
};

export const writeOptionsOf = (exchange: Exchange): WriteOptions => ({
  fieldManager: fieldManagerOf(exchange),
  dryRun: parseDryRun(exchange),
});

const checkType = ({ type }: Exchange, { apiVersion, kind }: NewKubeObject): void => {
  const expected = type.group === "" ? type.version : `${type.group}/${type.version}`;
  if ((apiVersion ?? expected) === expected && (kind ?? type.kind) === type.kind) return;
  throw badRequest(
    `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${type.kind}: this path takes ${type.kind} in ${expected}`,
  );
};

const checkPlace = ({ namespace, name }: Exchange, metadata: NewKubeObject["metadata"]): void => {
  if (metadata.namespace && metadata.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (name && metadata.name && metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
};

/** A body that is what the path is about, in the same place, with name and namespace filled in from the path. */
export const checkIdentity = (exchange: Exchange, body: unknown): NewKubeObject => {
  const { namespace, name } = exchange;
  if (!isObject(body)) throw badRequest("the body must be one object");
  const object = body as NewKubeObject;
  const metadata = object.metadata ?? {};
  if (!isObject(metadata)) throw badRequest("metadata must be an object");
  checkType(exchange, object);
  checkPlace(exchange, metadata);
  const place = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) };
  return { ...object, metadata: { ...metadata, ...place } };
};

const readObject = async (exchange: Exchange): Promise<NewKubeObject> => {
  const body = parseBody(await readBody(exchange.request), mediaTypeOf(exchange.request));
  const object = checkIdentity(exchange, body);
  checkFields(exchange, object);
  return object;
};

/** POST to a collection. */
export const handleCreate = async (exchange: Exchange): Promise<Answer> => {
  const object = await readObject(exchange);
  const created = exchange.store.create(exchange.type, object, writeOptionsOf(exchange));
  return ok(representOne(exchange, created), 201);
};

/** A custom resource is replaced only by who says which version it has read. */
const requireVersion = ({ type, rules, name }: Exchange, { metadata }: NewKubeObject): void => {
  if (!rules.customSchema || metadata.resourceVersion) return;
  throw invalidObject({ group: type.group, kind: type.plural }, name, [
    invalid("metadata.resourceVersion", 0, "must be specified for an update"),
  ]);
};

/** PUT of an object or its status. */
export const handleUpdate = async (exchange: Exchange): Promise<Answer> => {
  const object = await readObject(exchange);
  requireVersion(exchange, object);
  const updated = exchange.store.update(exchange.type, object as KubeObject, {
    ...writeOptionsOf(exchange),
    subresource: exchange.subresource === "status" ? "status" : undefined,
  });
  return ok(representOne(exchange, updated));
};

/** GET of one object. */
export const handleGet = (exchange: Exchange): Answer => {
  const { store, type, namespace, name } = exchange;
  const object = store.get(type, namespace, name);
  if (!object) throw notFound(type, name);
  return ok(representOne(exchange, object));
};
