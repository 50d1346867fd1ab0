import { jsonEqual } from "../../store/json-equal.js";
import { randomUUID } from "node:crypto";
import type { KubeObject, NewKubeObject, ResourceType } from "../../store/types.js";
import { forbiddenField, invalid, required, type FieldError } from "./field-error.js";
import type { KindRules } from "./kind-rules.js";
import { checkAnnotations, checkLabels, checkName, checkQualifiedName, generateName } from "./names.js";

/** Kubernetes keeps whole seconds: `2025-01-02T03:04:05Z`. */
export const formatTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** A draft of a new object with the metadata that only the server sets; the writer's own is overruled. */
export const draftForCreate = (type: ResourceType, { metadata, ...rest }: NewKubeObject, now: number): KubeObject => {
  const {
    resourceVersion: _version,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    ...kept
  } = structuredClone(metadata);
  const name = kept.name || (kept.generateName ? generateName(kept.generateName) : "");
  const draft: KubeObject = {
    ...structuredClone(rest),
    apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { ...kept, name, uid: randomUUID(), creationTimestamp: formatTime(now) },
  };
  if (!type.namespaced) delete draft.metadata.namespace;
  return draft;
};

/** A draft of a changed object: what only the server sets stays as it is. */
export const draftForUpdate = (next: KubeObject, current: KubeObject): KubeObject => {
  const draft = structuredClone(next);
  const { metadata } = draft;
  for (const field of [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
  ] as const) {
    const value = current.metadata[field];
    if (value === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: value });
  }
  draft.apiVersion = current.apiVersion;
  draft.kind = current.kind;
  return draft;
};

const checkOwnerReferences = (object: KubeObject): FieldError[] => {
  const references = object.metadata.ownerReferences ?? [];
  const errors = references.flatMap((reference) =>
    (["apiVersion", "kind", "name", "uid"] as const)
      .filter((field) => !reference[field])
      .map((field) =>
        invalid(
          `metadata.ownerReferences.${field}`,
          reference[field] ?? "",
          field === "apiVersion" ? "version must not be empty" : "must not be empty",
        ),
      ),
  );
  const controllers = references.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    errors.push(
      invalid(
        "metadata.ownerReferences",
        references,
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers.map(({ kind, name }) => `${kind}/${name}`).join(" and ")}`,
      ),
    );
  }
  return errors;
};

/** Finalizers of Kubernetes itself, which came before names had to be qualified. */
const STANDARD_FINALIZERS = [
  "orphan",
  "foregroundDeletion",
  "kubernetes",
  "customresourcecleanup.apiextensions.k8s.io",
];

const checkFinalizers = (finalizers: readonly string[]): FieldError[] =>
  finalizers.flatMap((finalizer, index) => {
    const field = `metadata.finalizers[${index}]`;
    const errors = checkQualifiedName(field, finalizer);
    if (errors.length > 0 || finalizer.includes("/")) return errors;
    return STANDARD_FINALIZERS.includes(finalizer)
      ? []
      : [invalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
  });

/** What apimachinery's ValidateObjectMeta finds. */
export const validateMetadata = (object: KubeObject, rules: KindRules): FieldError[] => {
  const { metadata } = object;
  const nameErrors = metadata.name
    ? checkName("metadata.name", metadata.name, rules.nameRule)
    : [required("metadata.name", "name or generateName is required")];
  return [
    ...nameErrors,
    ...checkLabels("metadata.labels", metadata.labels ?? {}),
    ...checkAnnotations("metadata.annotations", metadata.annotations ?? {}),
    ...checkOwnerReferences(object),
    ...checkFinalizers(metadata.finalizers ?? []),
  ];
};

/** While an object is being deleted its finalizers may only become fewer. */
export const validateMetadataUpdate = (next: KubeObject, current: KubeObject): FieldError[] => {
  if (!current.metadata.deletionTimestamp) return [];
  const had = new Set(current.metadata.finalizers ?? []);
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.has(finalizer));
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  return [
    forbiddenField(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ];
};

const withoutBookkeeping = (object: KubeObject): unknown => {
  const { managedFields: _managed, generation: _generation, resourceVersion: _v, ...metadata } = object.metadata;
  return { ...object, metadata, managers: comparableManagers(object) };
};

const comparableManagers = ({ metadata }: KubeObject): unknown =>
  (metadata.managedFields ?? []).map(({ time: _time, ...entry }) => entry);

/** Whether two states differ in nothing but the server's own counters and times. */
export const sameContent = (a: KubeObject, b: KubeObject): boolean =>
  jsonEqual(withoutBookkeeping(a), withoutBookkeeping(b));

const specOf = ({ metadata: _metadata, status: _status, ...rest }: KubeObject): unknown => rest;
const bodyOf = ({ metadata: _metadata, ...rest }: KubeObject): unknown => rest;

/** Counts a change of the spec (of everything, where the kind has no status of its own). */
export const bumpGeneration = (draft: KubeObject, current: KubeObject, rules: KindRules): void => {
  if (!rules.countsGeneration) return;
  const part = rules.statusIsSubresource ? specOf : bodyOf;
  if (!jsonEqual(part(draft), part(current))) draft.metadata.generation = (current.metadata.generation ?? 0) + 1;
};
