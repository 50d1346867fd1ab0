import { LABELS, PORT_NAMES, PORTS, type KubeObject } from "@sless/contracts";
import type { EndpointAddress } from "./endpoint.js";

/** The parts of a discovery.k8s.io/v1 EndpointSlice that are read here. */
export interface EndpointSlice extends KubeObject {
  kind: "EndpointSlice";
  endpoints?: {
    addresses?: string[];
    conditions?: { ready?: boolean | null; serving?: boolean | null; terminating?: boolean | null };
    targetRef?: { kind?: string; uid?: string };
  }[];
  ports?: { name?: string; port?: number }[];
}

/** Uid of the version that a slice's label names. */
export const versionUidOf = (slice: EndpointSlice): string | undefined => slice.metadata.labels?.[LABELS.versionUid];

const portOf = (slice: EndpointSlice): number =>
  slice.ports?.find(({ name }) => name === PORT_NAMES.call)?.port ?? PORTS.call;

/**
 * Pods that one slice names. `ready` absent means ready, as Kubernetes' API says; an entry without a pod is skipped,
 * since its identity could not be told from that of the next at the same address (security 18).
 */
export const addressesOf = (slice: EndpointSlice): EndpointAddress[] => {
  const port = portOf(slice);
  return (slice.endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
    const address = addresses?.[0];
    if (address === undefined || targetRef?.uid === undefined) return [];
    const terminating = conditions?.terminating === true;
    return [{ podUid: targetRef.uid, address, port, ready: conditions?.ready !== false, terminating }];
  });
};
