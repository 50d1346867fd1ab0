import { badRequest } from "../../store/api-status-error.js";
import type { DeleteOptions, KubeObject, PropagationPolicy } from "../../store/types.js";
import { invalidOptions, unsupported } from "../objects/field-error.js";
import { mediaTypeOf, parseBody, readBody } from "./body.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { selectionOf } from "./list.js";
import { writeOptionsOf } from "./write.js";

interface DeleteBody {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];

const parsePolicy = (policy: string | null | undefined): PropagationPolicy | undefined => {
  if (policy === null || policy === undefined || policy === "") return undefined;
  if (!POLICIES.includes(policy))
    throw invalidOptions("DeleteOptions", [unsupported("propagationPolicy", policy, [...POLICIES, "nil"])]);
  return policy as PropagationPolicy;
};

const parseGrace = (fromBody: number | undefined, fromQuery: string | null): number | undefined => {
  const value = fromBody ?? (fromQuery === null || fromQuery === "" ? undefined : Number(fromQuery));
  if (value !== undefined && !Number.isInteger(value))
    throw badRequest(`gracePeriodSeconds: ${String(value)} is not a whole number`);
  return value === undefined ? undefined : Math.max(0, value);
};

const legacyPolicy = (body: DeleteBody): PropagationPolicy | undefined =>
  body.orphanDependents === undefined ? undefined : body.orphanDependents ? "Orphan" : "Background";

const readOptions = async (exchange: Exchange): Promise<DeleteOptions> => {
  const text = await readBody(exchange.request);
  const body = (text.trim() === "" ? {} : parseBody(text, mediaTypeOf(exchange.request))) as DeleteBody;
  const { query } = exchange;
  return {
    uid: body.preconditions?.uid,
    resourceVersion: body.preconditions?.resourceVersion,
    propagationPolicy: parsePolicy(body.propagationPolicy ?? query.get("propagationPolicy")) ?? legacyPolicy(body),
    gracePeriodSeconds: parseGrace(body.gracePeriodSeconds, query.get("gracePeriodSeconds")),
    dryRun: (body.dryRun?.length ?? 0) > 0 || writeOptionsOf(exchange).dryRun,
  };
};

/** The object while something still holds it, else a Status that says it is gone. */
const answerFor = ({ store, type }: Exchange, deleted: KubeObject, dryRun: boolean): Answer => {
  const { name, namespace, uid = "" } = deleted.metadata;
  const left = store.get(type, namespace, name);
  if (left?.metadata.uid === uid && !dryRun) return ok(left);
  if (type.kind === "Pod" || type.kind === "Service") return ok(deleted);
  const group = type.group === "" ? {} : { group: type.group };
  return ok({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...group, kind: type.plural, uid },
  });
};

/** DELETE of one object. */
export const handleDelete = async (exchange: Exchange): Promise<Answer> => {
  const options = await readOptions(exchange);
  const { store, type, namespace, name } = exchange;
  return answerFor(exchange, store.delete(type, namespace, name, options), options.dryRun ?? false);
};

/** DELETE of a collection: everything that the selectors match; answers what was there. */
export const handleDeleteCollection = async (exchange: Exchange): Promise<Answer> => {
  const options = await readOptions(exchange);
  const { store, type } = exchange;
  const { items, resourceVersion } = store.list(type, selectionOf(exchange));
  const { uid: _uid, resourceVersion: _version, ...each } = options;
  for (const { metadata } of items) {
    if (store.get(type, metadata.namespace, metadata.name))
      store.delete(type, metadata.namespace, metadata.name, { ...each, uid: metadata.uid });
  }
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  return ok({ kind: type.listKind, apiVersion, metadata: { resourceVersion }, items });
};
