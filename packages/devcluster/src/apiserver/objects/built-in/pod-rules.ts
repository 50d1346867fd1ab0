import { jsonEqual } from "../../../store/json-equal.js";
import type { KubeObject } from "../../../store/types.js";
import { isObject, type JsonObject } from "../../schema/schema.js";
import { at, listAt } from "../../table/read.js";
import { forbiddenField, type FieldError } from "../field-error.js";
import type { KindRules } from "../kind-rules.js";
import { defaultPodSpec, defaultRequests, setDefaults } from "./pod-defaults.js";
import { validatePodSpec } from "./pod-validation.js";

const DEFAULT_GRACE_SECONDS = 30;

/** A pod that a node has taken is removed by its kubelet; any other at once. */
const gracePeriod = (pod: KubeObject, requested: number | undefined): number => {
  const spec = pod["spec"] as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
  const phase = at(pod, "status", "phase");
  if (!spec?.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
};

/** What of a running pod's spec may still change, by ValidatePodUpdate. */
const withoutMutable = (spec: unknown): unknown => {
  const copy = structuredClone(spec);
  if (!isObject(copy)) return copy;
  for (const field of ["activeDeadlineSeconds", "tolerations", "nodeName", "terminationGracePeriodSeconds"])
    delete copy[field];
  for (const container of [...listAt(copy, "containers"), ...listAt(copy, "initContainers")]) delete container["image"];
  return copy;
};

const specIsImmutable = (next: KubeObject, current: KubeObject): FieldError[] =>
  jsonEqual(withoutMutable(next["spec"]), withoutMutable(current["spec"]))
    ? []
    : [
        forbiddenField(
          "spec",
          "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ),
      ];

export const POD_RULES: Partial<KindRules> = {
  gracePeriod,
  prepare: (draft) => {
    const spec = draft["spec"];
    defaultPodSpec(spec);
    defaultRequests(spec);
    if (isObject(spec)) setDefaults(spec, { enableServiceLinks: true });
  },
  prepareForCreate: (draft) => {
    draft["status"] = { phase: "Pending" } satisfies JsonObject;
  },
  validate: (pod) => validatePodSpec(pod["spec"], "spec"),
  validateUpdate: specIsImmutable,
};
