import { z } from "zod";
import { Conditions } from "../conditions.js";
import type { ResourceType, SpecObject } from "../kube-object.js";
import { LIMITS } from "../limits.js";
import { API_GROUP, API_VERSION } from "../names.js";
import { Name, StatusMessage } from "./fields.js";

export const TRIGGER_TYPES = ["http"] as const;
export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export const HttpTrigger = z.object({
  host: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
    .optional()
    .meta({
      description: "Host that answers. Absent: <function>-<tenant>.<functions domain>.",
      example: "api.example.com",
    }),
  path: z
    .string()
    .min(1)
    .max(LIMITS.triggerPathLength)
    .regex(/^\/[A-Za-z0-9._~!$&()*+,;=:@/-]*$/)
    .default("/")
    .meta({
      description: "Prefix of the path, by whole segments. The function sees the path unchanged.",
      example: "/",
    }),
  methods: z.array(z.enum(HTTP_METHODS)).max(LIMITS.methods).default([]).meta({
    description: "Methods that reach the function; none named: all. Others get 405.",
    "x-kubernetes-list-type": "set",
  }),
});
export type HttpTrigger = z.infer<typeof HttpTrigger>;

export const TriggerSpec = z.object({
  functionRef: z.object({ name: Name }).meta({ description: "Function that the trigger calls." }),
  type: z.enum(TRIGGER_TYPES),
  enabled: z.boolean().default(true),
  http: HttpTrigger.default({ path: "/", methods: [] }),
});
export type TriggerSpec = z.infer<typeof TriggerSpec>;

export const TRIGGER_PHASES = ["Pending", "Active", "Disabled", "Failed"] as const;
export type TriggerPhase = (typeof TRIGGER_PHASES)[number];

export const TriggerStatus = z.object({
  phase: z.enum(TRIGGER_PHASES).optional(),
  message: StatusMessage.optional(),
  conditions: Conditions.optional(),
  observedGeneration: z.int().optional(),
  url: z.string().max(2048).optional(),
  host: z
    .string()
    .max(253)
    .optional()
    .meta({ description: "Canonical host that the trigger holds: what gateways route by." }),
});
export type TriggerStatus = z.infer<typeof TriggerStatus>;

export interface Trigger extends SpecObject<TriggerSpec, TriggerStatus> {
  kind: "Trigger";
}

export const TRIGGERS: ResourceType<Trigger> = {
  group: API_GROUP,
  version: API_VERSION,
  kind: "Trigger",
  plural: "triggers",
  namespaced: true,
};
