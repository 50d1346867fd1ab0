import { z } from "zod";
import { Condition } from "../conditions.js";
import { Name, Timestamp, Uid } from "../resources/fields.js";
import { HTTP_METHODS, HttpTrigger, TRIGGER_PHASES, TRIGGER_TYPES } from "../resources/trigger.js";

const httpFields = HttpTrigger.shape;

/** Settings of a trigger with their defaults: the body of PUT. */
export const TriggerSettings = z.strictObject({
  function: Name,
  type: z.enum(TRIGGER_TYPES),
  enabled: z.boolean().default(true),
  http: z.strictObject(httpFields).default({ path: "/", methods: [] }),
});
export type TriggerSettings = z.infer<typeof TriggerSettings>;

export const CreateTrigger = TriggerSettings.extend({ name: Name });
export type CreateTrigger = z.infer<typeof CreateTrigger>;

export const PatchTrigger = z.strictObject({
  function: Name.optional(),
  type: z.enum(TRIGGER_TYPES).optional(),
  enabled: z.boolean().nullable().optional(),
  http: z
    .strictObject({
      host: httpFields.host.unwrap().nullable().optional(),
      path: httpFields.path.unwrap().nullable().optional(),
      methods: z.array(z.enum(HTTP_METHODS)).nullable().optional(),
    })
    .nullable()
    .optional(),
});
export type PatchTrigger = z.infer<typeof PatchTrigger>;

export const TriggerBody = z.object({
  name: Name,
  namespace: z.string(),
  uid: Uid,
  generation: z.int(),
  created_at: Timestamp,
  function: Name,
  type: z.enum(TRIGGER_TYPES),
  enabled: z.boolean(),
  http: z.object({ host: z.string().optional(), path: z.string(), methods: z.array(z.enum(HTTP_METHODS)) }),
  status: z.object({
    phase: z.enum(TRIGGER_PHASES),
    message: z.string(),
    conditions: z.array(Condition),
    observed_generation: z.int().optional(),
    url: z.string().optional(),
  }),
});
export type TriggerBody = z.infer<typeof TriggerBody>;
