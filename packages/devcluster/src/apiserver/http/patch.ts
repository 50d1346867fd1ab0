import { ApiStatusError, badRequest, conflict, notFound } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import { applyJsonPatch } from "../patch/json-patch.js";
import { applyMergePatch } from "../patch/merge-patch.js";
import { mediaTypeOf, parseBody, readBody } from "./body.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { representOne } from "./representation.js";
import { writeOptionsOf } from "./write.js";

type ApplyPatch = (object: KubeObject, patch: unknown) => unknown;

const PATCH_TYPES: Readonly<Record<string, ApplyPatch>> = {
  "application/json-patch+json": applyJsonPatch,
  "application/merge-patch+json": applyMergePatch,
  "application/strategic-merge-patch+json": applyMergePatch,
};

const unsupported = (mediaType: string): ApiStatusError =>
  new ApiStatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${Object.keys(PATCH_TYPES).join(", ")} (got ${mediaType})`,
  );

/** Applies a patch of a media type; 415 for types that are none. */
export const patchWith = (mediaType: string, object: KubeObject, patch: unknown): unknown => {
  const apply = Object.hasOwn(PATCH_TYPES, mediaType) ? PATCH_TYPES[mediaType] : undefined;
  if (!apply) throw unsupported(mediaType);
  return apply(object, patch);
};

const checkUnmoved = ({ type, name }: Exchange, before: KubeObject, after: KubeObject): KubeObject => {
  if (after === null || typeof after !== "object" || typeof after.metadata !== "object" || after.metadata === null)
    throw badRequest("the patch leaves no object");
  if (after.metadata.name !== before.metadata.name || after.metadata.namespace !== before.metadata.namespace)
    throw badRequest("the patch changes the object's name or namespace");
  const version = after.metadata.resourceVersion;
  if (version !== undefined && version !== before.metadata.resourceVersion)
    throw conflict(
      type,
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  return after;
};

/** PATCH of an object or its status: read, patched and written in one turn, so that no other write comes between. */
export const handlePatch = async (exchange: Exchange): Promise<Answer> => {
  const { request, store, type, namespace, name } = exchange;
  const mediaType = mediaTypeOf(request);
  const patch = parseBody(await readBody(request), mediaType);
  const current = store.get(type, namespace, name);
  if (!current) throw notFound(type, name);
  const patched = checkUnmoved(exchange, current, patchWith(mediaType, current, patch) as KubeObject);
  const updated = store.update(type, patched, {
    ...writeOptionsOf(exchange),
    subresource: exchange.subresource === "status" ? "status" : undefined,
  });
  return ok(representOne(exchange, updated));
};
