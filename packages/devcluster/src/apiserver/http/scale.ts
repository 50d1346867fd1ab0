import { badRequest, notFound } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import { invalid, invalidObject } from "../objects/field-error.js";
import type { ScalePaths } from "../objects/kind-rules.js";
import { at, numberAt, textAt } from "../table/read.js";
import { mediaTypeOf, parseBody, readBody } from "./body.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { patchWith } from "./patch.js";
import { writeOptionsOf } from "./write.js";

const selectorText = (selector: unknown): string => {
  if (typeof selector === "string") return selector;
  const labels = at(selector, "matchLabels");
  if (labels === null || typeof labels !== "object") return "";
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort()
    .join(",");
};

/** The object's replicas as a Scale of autoscaling/v1. */
export const toScale = (object: KubeObject, paths: ScalePaths): KubeObject => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, ...paths.specReplicas);
  const selector = paths.labelSelector ? selectorText(at(object, ...paths.labelSelector)) : "";
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, ...paths.statusReplicas),
      ...(selector ? { selector } : {}),
    },
  };
};

const setAt = (object: KubeObject, path: readonly string[], value: number): void => {
  let parent = object as Record<string, unknown>;
  for (const key of path.slice(0, -1)) parent = (parent[key] ??= {}) as Record<string, unknown>;
  parent[path.at(-1) ?? ""] = value;
};

const withReplicas = ({ type, name }: Exchange, current: KubeObject, scale: unknown, paths: ScalePaths): KubeObject => {
  const replicas = at(scale, "spec", "replicas") ?? 0;
  if (!Number.isInteger(replicas)) throw badRequest("Scale: spec.replicas must be a whole number");
  if ((replicas as number) < 0)
    throw invalidObject({ ...type, group: "autoscaling", kind: "Scale" }, name, [
      invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
    ]);
  const draft = structuredClone(current);
  setAt(draft, paths.specReplicas, replicas as number);
  // The Scale's resourceVersion, if it names one, is the precondition.
  const version = textAt(scale, "metadata", "resourceVersion");
  if (version) draft.metadata.resourceVersion = version;
  return draft;
};

/** GET, PUT and PATCH of the scale subresource. */
export const handleScale = async (exchange: Exchange): Promise<Answer> => {
  const { request, store, type, rules, namespace, name } = exchange;
  const paths = rules.scale;
  if (!paths) throw new Error(`${type.plural} has a scale subresource but no paths for it`);
  const text = request.method === "GET" ? undefined : await readBody(request);
  const current = store.get(type, namespace, name);
  if (!current) throw notFound(type, name);
  if (text === undefined) return ok(toScale(current, paths));
  const mediaType = mediaTypeOf(request);
  const body = parseBody(text, mediaType);
  const scale = request.method === "PATCH" ? patchWith(mediaType, toScale(current, paths), body, rules) : body;
  const updated = store.update(type, withReplicas(exchange, current, scale, paths), writeOptionsOf(exchange));
  return ok(toScale(updated, paths));
};
