import type { KubeObject } from "../../store/types.js";
import type { KindRules } from "../objects/kind-rules.js";
import { formatTime } from "../objects/metadata.js";
import { invalid } from "../objects/field-error.js";
import { definitionSpec } from "./definition.js";
import { validateDefinition } from "./validate-definition.js";

/** Holds a definition until its custom resources are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

const fillNames = (draft: KubeObject): void => {
  const spec = definitionSpec(draft);
  if (!spec?.names) return;
  spec.names.singular ??= spec.names.kind?.toLowerCase();
  spec.names.listKind ??= `${spec.names.kind}List`;
  spec.conversion ??= { strategy: "None" };
};

const condition = (type: string, reason: string, message: string, now: number) => ({
  type,
  status: "True",
  reason,
  message,
  lastTransitionTime: formatTime(now),
});

/** Names are checked and resources served at once, so the conditions are true from the start. */
const establish = (draft: KubeObject): void => {
  const { names, versions } = definitionSpec(draft);
  const now = Date.now();
  draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  draft["status"] = {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
    ],
    acceptedNames: structuredClone(names),
    storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name),
  };
};

const IMMUTABLE = ["group", "scope"] as const;

/** The rules of CustomResourceDefinition itself. */
export const DEFINITION_RULES: Partial<KindRules> = {
  prepare: fillNames,
  prepareForCreate: (draft) => {
    if (validateDefinition(draft).length === 0) establish(draft);
  },
  validate: validateDefinition,
  validateUpdate: (next, current) => {
    const spec = definitionSpec(next);
    const before = definitionSpec(current);
    return IMMUTABLE.filter((field) => spec[field] !== before[field]).map((field) =>
      invalid(`spec.${field}`, spec[field], "field is immutable"),
    );
  },
};
