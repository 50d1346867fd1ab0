import { z } from "zod";
import { Conditions } from "../conditions.js";
import type { ResourceType, SpecObject } from "../kube-object.js";
import { LIMITS } from "../limits.js";
import { API_GROUP, API_VERSION } from "../names.js";
import { cel, StatusMessage } from "./fields.js";

const immutable = cel({ rule: "self == oldSelf", message: "can't be changed" });

export const TenantSpec = z.object({
  owner: z
    .object({ issuer: z.string().max(2048), subject: z.string().min(1).max(255) })
    .meta({ description: "Who the tenant is: issuer and claim of its tokens, byte for byte.", ...immutable }),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: "Full hash of the identity.", ...immutable }),
  hosts: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(/^[a-z0-9.-]+$/),
    )
    .max(LIMITS.hosts)
    .default([])
    .meta({
      description: "Hosts outside the functions' domain that the tenant may use; whatever lies below them too.",
    }),
});
export type TenantSpec = z.infer<typeof TenantSpec>;

export const TenantStatus = z.object({
  phase: z.enum(["Pending", "Active", "Terminating", "Failed"]).optional(),
  message: StatusMessage.optional(),
  conditions: Conditions.optional(),
  observedGeneration: z.int().optional(),
});
export type TenantStatus = z.infer<typeof TenantStatus>;

export interface Tenant extends SpecObject<TenantSpec, TenantStatus> {
  kind: "Tenant";
}

export const TENANTS: ResourceType<Tenant> = {
  group: API_GROUP,
  version: API_VERSION,
  kind: "Tenant",
  plural: "tenants",
  namespaced: false,
};
