import type { Trigger, TriggerBody, TriggerSettings, TriggerSpec } from "@sless/contracts";

const toHttpBody = ({ http }: TriggerSpec): TriggerBody["http"] => ({
  ...(http.host !== undefined && { host: http.host }),
  path: http.path,
  methods: http.methods,
});

/** A Trigger as the REST API answers it. */
export const toTriggerBody = ({ metadata, spec, status }: Trigger): TriggerBody => ({
  name: metadata.name,
  namespace: metadata.namespace ?? "",
  uid: metadata.uid ?? "",
  generation: metadata.generation ?? 0,
  created_at: metadata.creationTimestamp ?? "",
  function: spec.functionRef.name,
  type: spec.type,
  enabled: spec.enabled,
  http: toHttpBody(spec),
  status: {
    phase: status?.phase ?? "Pending",
    message: status?.message ?? "",
    conditions: status?.conditions ?? [],
    ...(status?.observedGeneration !== undefined && { observed_generation: status.observedGeneration }),
    ...(status?.url !== undefined && { url: status.url }),
  },
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
