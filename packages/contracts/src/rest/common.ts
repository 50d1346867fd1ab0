import { z } from "zod";
import { LIMITS } from "../limits.js";

/** A page of a list; `continue` is opaque and absent on the last page. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), continue: z.string().optional() });

export const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.pageSize.max).default(LIMITS.pageSize.default),
  continue: z.string().max(2048).optional(),
});

export const WAIT_FOR = ["ready", "gone"] as const;
export const WaitQuery = z.object({
  wait: z
    .enum(WAIT_FOR)
    .optional()
    .meta({ description: "Answer when the item is ready, or gone, or can't become so." }),
  timeout: z.coerce.number().int().min(1).max(LIMITS.waitSeconds).default(60).meta({ description: "Seconds to wait." }),
  generation: z.coerce.number().int().min(1).optional().meta({ description: "Generation of the write to wait for." }),
});
export type WaitQuery = z.infer<typeof WaitQuery>;

export const LogsQuery = z.object({
  follow: z.stringbool().default(false),
  tail: z.coerce.number().int().min(0).max(10_000).default(100),
  since: z
    .string()
    .max(64)
    .optional()
    .meta({ description: "A duration back from now (90s, 15m, 2h) or an RFC 3339 time." }),
  version: z.coerce.number().int().min(1).optional(),
});

export const WhoAmI = z.object({
  subject: z.string(),
  issuer: z.string(),
  namespace: z.string(),
  admin: z.boolean(),
  expires_at: z.string().optional(),
  functions_domain: z.string(),
});
export type WhoAmI = z.infer<typeof WhoAmI>;

export const RuntimeBody = z.object({
  name: z.string(),
  family: z.string(),
  deprecated: z.boolean(),
  available: z.boolean(),
  message: z.string().optional().meta({ description: "Why it is not available." }),
});
export type RuntimeBody = z.infer<typeof RuntimeBody>;

/** How to name the namespace once more before everything in it is deleted. */
export const DeleteNamespaceQuery = z.object({
  confirm: z.string().max(64).optional().meta({ description: "The namespace's name once more." }),
});

export const UploadQuery = z.object({
  stage: z
    .stringbool()
    .default(false)
    .meta({ description: "Only store the code and answer its digest; a later PUT or PATCH names it as code_digest." }),
});
