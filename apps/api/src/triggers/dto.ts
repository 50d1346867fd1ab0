import type { Trigger, TriggerBody, TriggerSettings, TriggerSpec, TriggerStatus } from "@sless/contracts";
import { present, toMetaBody } from "../resources/dto.js";

const toHttpBody = ({ http }: TriggerSpec): TriggerBody["http"] => ({
  ...(http.host !== undefined && { host: http.host }),
  path: http.path,
  methods: http.methods,
});

const toStatusBody = (status: TriggerStatus): TriggerBody["status"] => ({
  phase: status.phase ?? "Pending",
  message: status.message ?? "",
  conditions: status.conditions ?? [],
  ...present({ observed_generation: status.observedGeneration, url: status.url }),
});

/** A Trigger as the REST API answers it. */
export const toTriggerBody = ({ metadata, spec, status }: Trigger): TriggerBody => ({
  ...toMetaBody(metadata),
  ...toSettings(spec),
  status: toStatusBody(status ?? {}),
});

/** Settings of a Trigger in the form of a PUT's body: what a PATCH is merged into. */
export const toSettings = (spec: TriggerSpec): TriggerSettings => ({
  function: spec.functionRef.name,
  type: spec.type,
  enabled: spec.enabled,
  http: toHttpBody(spec),
});

/** The spec that settings ask for. */
export const toSpec = (settings: TriggerSettings): TriggerSpec => ({
  functionRef: { name: settings.function },
  type: settings.type,
  enabled: settings.enabled,
  http: settings.http,
});
