import type { KubeObject, ManagedFieldsEntry } from "../../store/types.js";
import type { Schema } from "../schema/schema.js";
import { compare } from "./compare.js";
import { FieldSet } from "./field-set.js";
import { decodeManagers, encodeManagers, isSameManager, type Manager, type ManagerIdentity } from "./managers.js";
import { mergeApplied, removeFields } from "./merge.js";
import { toFieldSet } from "./to-field-set.js";

/** Who writes, by which way, and when (RFC 3339). */
export interface Writer extends ManagerIdentity {
  time: string;
}

/** What nobody manages: the server's own fields. */
const UNMANAGED: readonly (readonly string[])[] = [
  ["f:apiVersion"],
  ["f:kind"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ].map((field) => ["f:metadata", `f:${field}`]),
];

/** `apiVersion`, `kind` and the server's metadata out of a set; what remains of it is what writers manage. */
const managed = (fields: FieldSet, ignored: readonly (readonly string[])[]): FieldSet => {
  const kept = fields.without([...UNMANAGED, ...ignored]);
  // The object itself, and metadata as such, are nobody's.
  return withoutContainers(kept);
};

const withoutContainers = (fields: FieldSet): FieldSet => {
  const containers = new FieldSet();
  containers.addSelf();
  containers.ensureChild("f:metadata").addSelf();
  return fields.difference(containers);
};

const settle = (
  managers: readonly Manager[],
  writer: ManagerIdentity,
  { own, time }: { own: FieldSet; time: string | undefined },
): ManagedFieldsEntry[] => {
  const others = managers.filter((manager) => !isSameManager(manager, writer));
  const previous = managers.find((manager) => isSameManager(manager, writer));
  return encodeManagers([...others, { ...writer, time: time ?? previous?.time, fields: own }]);
};

/** Takes fields from everybody but the writer; an entry that loses some gets no new time, as in Kubernetes. */
const takeFromOthers = (managers: readonly Manager[], writer: ManagerIdentity, fields: FieldSet): Manager[] =>
  managers.map((manager) =>
    isSameManager(manager, writer) ? manager : { ...manager, fields: manager.fields.difference(fields) },
  );

export interface UpdateTracking {
  schema: Schema;
  /** An empty object of the kind for a creation. */
  before: KubeObject | Record<string, unknown>;
  after: KubeObject;
  entries: readonly ManagedFieldsEntry[] | undefined;
  writer: Writer;
  /** Paths that this way of writing cannot change. */
  ignored: readonly (readonly string[])[];
}

/** The managedFields after a create, update or patch: who changed a field owns it, alone. */
export const trackUpdate = ({
  schema,
  before,
  after,
  entries,
  writer,
  ignored,
}: UpdateTracking): ManagedFieldsEntry[] => {
  const { added, modified, removed } = compare(before, after, schema);
  const changed = managed(added.union(modified), ignored);
  const managers = takeFromOthers(decodeManagers(entries), writer, changed.union(removed));
  const own = managers.find((manager) => isSameManager(manager, writer))?.fields ?? new FieldSet();
  const isChanged = !changed.isEmpty();
  return settle(managers, writer, {
    own: own.difference(removed).union(changed),
    time: isChanged ? writer.time : undefined,
  });
};

export interface ApplyConflict {
  manager: Manager;
  fields: FieldSet;
}

export interface AppliedState {
  object: KubeObject;
  entries: ManagedFieldsEntry[];
  conflicts: ApplyConflict[];
}

export interface Application {
  schema: Schema;
  live: KubeObject | undefined;
  applied: KubeObject;
  entries: readonly ManagedFieldsEntry[] | undefined;
  writer: Writer;
  ignored: readonly (readonly string[])[];
}

/** What the writer applied before and neither it nor anybody else wants now. */
const abandonedFields = (previous: FieldSet, managers: readonly Manager[], own: FieldSet): FieldSet => {
  const wanted = managers.reduce((all, { fields }) => all.union(fields), own);
  return previous.withAncestors().difference(wanted.withAncestors());
};

/**
 * Server-side apply (structured-merge-diff): merges a configuration into the live object, drops what the same
 * manager no longer names, and says with whom it conflicts. Whether conflicts are forced is the caller's matter.
 */
export const applyConfiguration = ({ schema, live, applied, entries, writer, ignored }: Application): AppliedState => {
  const managers = decodeManagers(entries);
  const previous = managers.find((manager) => isSameManager(manager, writer))?.fields ?? new FieldSet();
  const others = managers.filter((manager) => !isSameManager(manager, writer));
  const configured = toFieldSet(applied, schema);
  const own = managed(configured, ignored);
  const merged = mergeApplied(live ?? {}, applied, schema);
  const object = removeFields(merged, schema, abandonedFields(previous, others, configured)) as KubeObject;
  const { added, modified, removed } = compare(live ?? {}, object, schema);
  const changed = managed(added.union(modified), ignored);
  const conflicts = others
    .map((manager) => ({ manager, fields: manager.fields.intersection(changed) }))
    .filter(({ fields }) => !fields.isEmpty());
  const left = takeFromOthers(managers, writer, changed.union(removed));
  // As in Kubernetes, an apply that changes no field changes no time either, and a new manager gets none.
  const isChanged = !changed.isEmpty() || !removed.isEmpty();
  const settled = settle(left, writer, { own, time: isChanged ? writer.time : undefined });
  return { object, entries: settled, conflicts };
};
