import { z } from "zod";
import type { KubeObject, ResourceType } from "../kube-object.js";
import { API_GROUP, API_VERSION } from "../names.js";
import { Timestamp, Uid } from "./fields.js";

/** Most active versions that one report names; the ones called last stay. */
export const REPORTED_VERSIONS_MAX = 4000;

export const GatewayReportStatus = z.object({
  observedResourceVersion: z
    .string()
    .regex(/^\d{1,20}$/)
    .meta({
      description: "Functions are applied up to here: the acknowledgement of a move of traffic.",
    }),
  renewTime: Timestamp,
  versions: z
    .array(
      z.object({
        uid: Uid,
        inFlight: z.int().min(0),
        queued: z.int().min(0),
        lastCallTime: Timestamp.optional(),
      }),
    )
    .max(REPORTED_VERSIONS_MAX)
    .default([]),
});
export type GatewayReportStatus = z.infer<typeof GatewayReportStatus>;

/** What one gateway replica has applied and carries. It has no spec: nobody orders anything by it. */
export interface GatewayReport extends KubeObject {
  kind: "GatewayReport";
  status?: GatewayReportStatus;
}

export const GATEWAY_REPORTS: ResourceType<GatewayReport> = {
  group: API_GROUP,
  version: API_VERSION,
  kind: "GatewayReport",
  plural: "gatewayreports",
  namespaced: true,
};
