import type { KubeObject, ManagedFieldsEntry, ResourceType, UpdateOptions } from "../../store/types.js";
import { trackUpdate } from "../managed-fields/track.js";
import { normaliseBuiltIn } from "../schema/defaults.js";
import { fieldSchema, isObject, type Schema } from "../schema/schema.js";
import type { KindRules } from "./kind-rules.js";
import { formatTime } from "./metadata.js";

/** Paths that a way of writing cannot change, and so does not come to manage. */
export const ignoredFields = (rules: KindRules, ofStatus: boolean): readonly (readonly string[])[] => {
  if (ofStatus) return [["f:spec"], ["f:metadata"]];
  return rules.statusIsSubresource ? [["f:status"]] : [];
};

/** Lists that Go writes even when they are empty: they are no news in a new object, their items are. */
const fillRequiredLists = (value: Record<string, unknown>, schema: Schema): void => {
  for (const key of schema.required ?? []) if (schema.properties?.[key]?.type === "array") value[key] ??= [];
  for (const [key, child] of Object.entries(value)) {
    const field = fieldSchema(schema, key);
    if (field && isObject(child)) fillRequiredLists(child, field);
  }
};

const emptyObject = (rules: KindRules): Record<string, unknown> => {
  const empty: Record<string, unknown> = {};
  if (rules.customSchema) return empty;
  normaliseBuiltIn(empty, rules.schema);
  fillRequiredLists(empty, rules.schema);
  return empty;
};

export interface TrackedWrite {
  type: ResourceType;
  rules: KindRules;
  current: KubeObject | undefined;
  draft: KubeObject;
  options: UpdateOptions;
  now: number;
}

const IN_PROCESS_MANAGER = "devcluster";

/** Who manages which field of the draft after a write that is no apply. */
export const managedFieldsAfter = (write: TrackedWrite): ManagedFieldsEntry[] => {
  const { type, rules, current, draft, options, now } = write;
  const ofStatus = options.subresource === "status";
  return trackUpdate({
    schema: rules.schema,
    before: current ?? emptyObject(rules),
    after: draft,
    entries: current?.metadata.managedFields,
    ignored: ignoredFields(rules, ofStatus),
    writer: {
      manager: options.fieldManager ?? IN_PROCESS_MANAGER,
      operation: "Update",
      apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`,
      subresource: options.subresource,
      time: formatTime(now),
    },
  });
};
