import { ApiStatusError, badRequest, conflict } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import { applyConfiguration, type AppliedState, type ApplyConflict } from "../managed-fields/track.js";
import { findUnknownFields } from "../schema/prune.js";
import { invalidOptions, required } from "../objects/field-error.js";
import { ignoredFields } from "../objects/tracking.js";
import { formatTime } from "../objects/metadata.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { representOne } from "./representation.js";
import { checkIdentity, fieldManagerOf, writeOptionsOf } from "./write.js";

const describe = ({ manager }: ApplyConflict): string => {
  const ofSubresource = manager.subresource ? ` with subresource ${JSON.stringify(manager.subresource)}` : "";
  const using = manager.operation === "Update" ? ` using ${manager.apiVersion}` : "";
  return `${JSON.stringify(manager.manager)}${ofSubresource}${using}`;
};

/** 409 that names each field and its manager: reason Conflict, one cause per field. */
const conflictError = (conflicts: readonly ApplyConflict[]): ApiStatusError => {
  const causes = conflicts.flatMap((one) =>
    one.fields.paths().map((field) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${describe(one)}`,
      field,
    })),
  );
  const [first] = causes;
  const text =
    causes.length === 1 && first
      ? `conflict: ${first.message}: ${first.field}`
      : `conflicts: ${conflicts
          .map((one) =>
            [`conflicts with ${describe(one)}:`, ...one.fields.paths().map((path) => `- ${path}`)].join("\n"),
          )
          .join("\n")}`;
  return new ApiStatusError(409, "Conflict", `Apply failed with ${causes.length} ${text}`, { causes });
};

const namespaceIn = (body: unknown): string => (body as KubeObject).metadata?.namespace ?? "";

const checkApplied = (exchange: Exchange, body: unknown): KubeObject => {
  const { type, rules, name, query } = exchange;
  if (!query.get("fieldManager"))
    throw invalidOptions("PatchOptions", [required("fieldManager", "is required for apply patch")]);
  if (rules.warning) exchange.warnings.push(rules.warning);
  const applied = checkIdentity(exchange, body) as KubeObject;
  if (applied.metadata.managedFields?.length) throw badRequest("metadata.managedFields must be nil");
  const [unknown] = findUnknownFields(applied, rules.schema);
  if (unknown !== undefined) {
    throw new ApiStatusError(
      500,
      "",
      `failed to create typed patch object (${namespaceIn(body)}/${name}; ${type.group}/${type.version}, Kind=${type.kind}): .${unknown}: field not declared in schema`,
    );
  }
  return applied;
};

/** A uid or version is a wish to change what is there, so that nothing may be made in its place. */
const refuseGhost = ({ type, name }: Exchange, { metadata }: KubeObject): void => {
  if (metadata.uid || metadata.resourceVersion)
    throw conflict(
      type,
      name,
      "uid mismatch: the provided object specified a uid or resourceVersion, and no existing object was found",
    );
};

const merge = (exchange: Exchange, live: KubeObject | undefined, applied: KubeObject): AppliedState => {
  const { type, rules, subresource, query } = exchange;
  const ofStatus = subresource === "status";
  const state = applyConfiguration({
    schema: rules.schema,
    live,
    applied,
    entries: live?.metadata.managedFields,
    ignored: ignoredFields(rules, ofStatus),
    writer: {
      manager: fieldManagerOf(exchange),
      operation: "Apply",
      apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`,
      subresource: ofStatus ? "status" : undefined,
      time: formatTime(Date.now()),
    },
  });
  if (state.conflicts.length > 0 && query.get("force") !== "true") throw conflictError(state.conflicts);
  return state;
};

/** PATCH with an apply patch: creates or merges, and keeps who manages which field. */
export const handleApply = (exchange: Exchange, body: unknown): Answer => {
  const { store, type, namespace, name, subresource } = exchange;
  const applied = checkApplied(exchange, body);
  const live = store.get(type, namespace, name);
  if (!live) refuseGhost(exchange, applied);
  const { object, entries } = merge(exchange, live, applied);
  const options = { ...writeOptionsOf(exchange), managedFields: entries };
  if (!live) return ok(representOne(exchange, store.create(type, object, options)), 201);
  const ofStatus = subresource === "status" ? ("status" as const) : undefined;
  return ok(representOne(exchange, store.update(type, object, { ...options, subresource: ofStatus })));
};
