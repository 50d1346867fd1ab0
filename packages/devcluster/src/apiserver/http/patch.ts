import { ApiStatusError, badRequest, notFound } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import { applyJsonPatch } from "../patch/json-patch.js";
import { applyMergePatch } from "../patch/merge-patch.js";
import { applyStrategicMergePatch } from "../patch/strategic-merge-patch.js";
import type { KindRules } from "../objects/kind-rules.js";
import { isObject } from "../schema/schema.js";
import { handleApply } from "./apply.js";
import { mediaTypeOf, parseBody, readBody } from "./body.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { checkFields } from "./field-validation.js";
import { representOne } from "./representation.js";
import { writeOptionsOf } from "./write.js";

type ApplyPatch = (object: KubeObject, patch: unknown, rules: KindRules) => unknown;

const strategicMerge: ApplyPatch = (object, patch, rules) => {
  if (rules.customSchema) throw unsupported("application/strategic-merge-patch+json");
  if (!isObject(patch)) throw badRequest("the patch must be an object");
  return applyStrategicMergePatch(object, patch, rules.schema);
};

const APPLY_TYPE = "application/apply-patch+yaml";

const PATCH_TYPES: Readonly<Record<string, ApplyPatch>> = {
  "application/json-patch+json": applyJsonPatch,
  "application/merge-patch+json": applyMergePatch,
  "application/strategic-merge-patch+json": strategicMerge,
};

const unsupported = (mediaType: string): ApiStatusError =>
  new ApiStatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${[...Object.keys(PATCH_TYPES), APPLY_TYPE].join(", ")} (got ${mediaType})`,
  );

/** Applies a patch of a media type; 415 for types that are none. */
export const patchWith = (mediaType: string, object: KubeObject, patch: unknown, rules: KindRules): unknown => {
  const apply = Object.hasOwn(PATCH_TYPES, mediaType) ? PATCH_TYPES[mediaType] : undefined;
  if (!apply) throw unsupported(mediaType);
  return apply(object, patch, rules);
};

/** A patch may not move an object, and what it leaves must still be one. */
const checkUnmoved = (before: KubeObject, after: unknown): KubeObject => {
  const metadata = isObject(after) ? after["metadata"] : undefined;
  if (!isObject(after) || !isObject(metadata)) throw badRequest("the patch leaves no object with metadata");
  if (metadata["name"] !== before.metadata.name || metadata["namespace"] !== before.metadata.namespace)
    throw badRequest("the patch changes the object's name or namespace");
  return after as KubeObject;
};

/** PATCH of an object or its status: read, patched and written in one turn, so that no other write comes between. */
export const handlePatch = async (exchange: Exchange): Promise<Answer> => {
  const { request, store, type, rules, namespace, name } = exchange;
  const mediaType = mediaTypeOf(request);
  const patch = parseBody(await readBody(request), mediaType);
  if (mediaType === APPLY_TYPE) return handleApply(exchange, patch);
  const current = store.get(type, namespace, name);
  if (!current) throw notFound(type, name);
  const patched = checkUnmoved(current, patchWith(mediaType, current, patch, rules));
  checkFields(exchange, patched);
  const updated = store.update(type, patched, {
    ...writeOptionsOf(exchange),
    subresource: exchange.subresource === "status" ? "status" : undefined,
  });
  return ok(representOne(exchange, updated));
};
