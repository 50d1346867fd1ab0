import { jsonEqual } from "../../../store/json-equal.js";
import type { KubeObject } from "../../../store/types.js";
import { isObject, type JsonObject } from "../../schema/schema.js";
import { at, numberAt, textAt } from "../../table/read.js";
import { invalid, required, unsupported, type FieldError } from "../field-error.js";
import type { KindRules, ScalePaths } from "../kind-rules.js";
import { checkLabels } from "../names.js";
import { parseObjectSelector } from "../object-selector.js";
import { defaultPodSpec, setDefaults } from "./pod-defaults.js";
import { validatePodSpec } from "./pod-validation.js";

const REPLICA_PATHS: ScalePaths = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  labelSelector: ["spec", "selector"],
};

const specOf = (object: KubeObject): JsonObject => object["spec"] as JsonObject;

const validateSelector = (object: KubeObject): FieldError[] => {
  const selector = at(object, "spec", "selector");
  if (!isObject(selector)) return [required("spec.selector")];
  if (!isObject(selector["matchLabels"]) && !Array.isArray(selector["matchExpressions"]))
    return [invalid("spec.selector", selector, `empty selector is invalid for ${object.kind.toLowerCase()}`)];
  const labels = at(object, "spec", "template", "metadata", "labels") as Record<string, string> | undefined;
  if (parseObjectSelector(selector)(labels ?? {})) return [];
  return [invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")];
};

const notNegative = (object: KubeObject, field: string): FieldError[] => {
  const value = numberAt(object, "spec", field);
  return value < 0 ? [invalid(`spec.${field}`, value, "must be greater than or equal to 0")] : [];
};

const validateTemplate = (object: KubeObject, policies: readonly string[]): FieldError[] => [
  ...checkLabels(
    "spec.template.labels",
    (at(object, "spec", "template", "metadata", "labels") ?? {}) as Record<string, unknown>,
  ),
  ...validatePodSpec(at(object, "spec", "template", "spec"), "spec.template.spec", policies),
];

const selectorIsImmutable = (next: KubeObject, current: KubeObject): FieldError[] => {
  const selector = at(next, "spec", "selector");
  return jsonEqual(selector, at(current, "spec", "selector"))
    ? []
    : [invalid("spec.selector", selector, "field is immutable")];
};

const defaultDeployment = (draft: KubeObject): void => {
  const spec = specOf(draft);
  setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {} });
  const strategy = spec["strategy"] as JsonObject;
  if (!strategy["type"]) strategy["type"] = "RollingUpdate";
  if (strategy["type"] === "RollingUpdate") {
    setDefaults(strategy, { rollingUpdate: {} });
    setDefaults(strategy["rollingUpdate"] as JsonObject, { maxUnavailable: "25%", maxSurge: "25%" });
  }
  defaultPodSpec(at(spec, "template", "spec"));
};

const validateReplicated = (object: KubeObject): FieldError[] => [
  ...notNegative(object, "replicas"),
  ...validateSelector(object),
  ...validateTemplate(object, ["Always"]),
];

const STRATEGIES = ["Recreate", "RollingUpdate"];

export const DEPLOYMENT_RULES: Partial<KindRules> = {
  scale: REPLICA_PATHS,
  prepare: defaultDeployment,
  validate: (object) => {
    const strategy = at(object, "spec", "strategy");
    const type = textAt(strategy, "type");
    const recreates = type === "Recreate" && at(strategy, "rollingUpdate") !== undefined;
    return [
      ...validateReplicated(object),
      ...(STRATEGIES.includes(type) ? [] : [unsupported("spec.strategy.type", type, STRATEGIES)]),
      ...(recreates
        ? [
            {
              field: "spec.strategy.rollingUpdate",
              reason: "FieldValueForbidden" as const,
              message: "Forbidden: may not be specified when strategy `type` is 'Recreate'",
            },
          ]
        : []),
    ];
  },
  validateUpdate: selectorIsImmutable,
};

export const REPLICA_SET_RULES: Partial<KindRules> = {
  scale: REPLICA_PATHS,
  prepare: (draft) => {
    setDefaults(specOf(draft), { replicas: 1 });
    defaultPodSpec(at(draft, "spec", "template", "spec"));
  },
  prepareForCreate: (draft) => {
    draft["status"] = { replicas: 0 };
  },
  validate: validateReplicated,
  validateUpdate: selectorIsImmutable,
};

const defaultJob = (draft: KubeObject): void => {
  const spec = specOf(draft);
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  setDefaults(spec, {
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: "TerminatingOrFailed",
  });
  if (spec["manualSelector"] === false && draft.metadata.uid === undefined) delete spec["manualSelector"];
  defaultPodSpec(at(spec, "template", "spec"));
};

/** The selector that tells a job's pods from any other's is made from its uid, as the API server does. */
const selectOwnPods = (draft: KubeObject): void => {
  const spec = specOf(draft);
  if (spec["manualSelector"] === true || !isObject(spec["template"])) return;
  const { uid = "", name } = draft.metadata;
  const template = spec["template"];
  const metadata = (template["metadata"] ??= {}) as JsonObject;
  metadata["labels"] = {
    ...(metadata["labels"] as JsonObject | undefined),
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  spec["selector"] = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
};

const JOB_POLICIES = ["OnFailure", "Never"];

const checkJobPolicy = (object: KubeObject, path: string): FieldError[] =>
  JOB_POLICIES.includes(textAt(object, ...path.split("."), "restartPolicy"))
    ? []
    : [required(`${path}.restartPolicy`, 'valid values: "OnFailure", "Never"')];

const jobTemplateIsImmutable = (next: KubeObject, current: KubeObject): FieldError[] => {
  const template = at(next, "spec", "template");
  if (jsonEqual(template, at(current, "spec", "template"))) return selectorIsImmutable(next, current);
  return [invalid("spec.template", template, "field is immutable")];
};

export const JOB_RULES: Partial<KindRules> = {
  prepare: defaultJob,
  prepareForCreate: selectOwnPods,
  validate: (object) => [
    ...["completions", "parallelism", "backoffLimit"].flatMap((field) => notNegative(object, field)),
    ...validateTemplate(object, ["Always", ...JOB_POLICIES]),
    ...checkJobPolicy(object, "spec.template.spec"),
  ],
  validateUpdate: jobTemplateIsImmutable,
};

const CRON_FIELDS = 5;

const validateSchedule = (object: KubeObject): FieldError[] => {
  const schedule = at(object, "spec", "schedule");
  if (typeof schedule !== "string" || schedule === "") return [required("spec.schedule")];
  const fields = schedule.trim().split(/\s+/).length;
  if (schedule.startsWith("@") || fields === CRON_FIELDS) return [];
  return [
    invalid(
      "spec.schedule",
      schedule,
      `expected exactly 5 fields, found ${fields}: [${schedule.trim().split(/\s+/).join(" ")}]`,
    ),
  ];
};

export const CRON_JOB_RULES: Partial<KindRules> = {
  prepare: (draft) => {
    const spec = specOf(draft);
    setDefaults(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    defaultPodSpec(at(spec, "jobTemplate", "spec", "template", "spec"));
  },
  validate: (object) => [
    ...validateSchedule(object),
    ...validatePodSpec(
      at(object, "spec", "jobTemplate", "spec", "template", "spec"),
      "spec.jobTemplate.spec.template.spec",
      JOB_POLICIES,
    ),
  ],
};
