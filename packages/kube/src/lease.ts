import type { KubeClient } from "./client.js";
import { AlreadyExistsError, ConflictError, NotFoundError } from "./errors.js";
import type { ObjectKey } from "./object.js";
import { leases, type Lease } from "./resources.js";

/** What a Lease says, read leniently: others may have written anything. */
export interface LeaseRecord {
  /** Empty when released. */
  holder: string;
  durationMs: number;
  transitions: number;
  acquireTime: string | undefined;
  resourceVersion: string | undefined;
}

const DEFAULT_DURATION_SECONDS = 15;

/** A time as Kubernetes' MicroTime: exactly six digits of a second, which a Date does not print. */
export const microTime = (epochMs: number): string => new Date(epochMs).toISOString().replace("Z", "000Z");

/** Reads a Lease's record. */
export const parseLease = (lease: Lease): LeaseRecord => ({
  holder: lease.spec?.holderIdentity ?? "",
  durationMs: (lease.spec?.leaseDurationSeconds ?? DEFAULT_DURATION_SECONDS) * 1000,
  transitions: lease.spec?.leaseTransitions ?? 0,
  acquireTime: lease.spec?.acquireTime,
  resourceVersion: lease.metadata.resourceVersion,
});

export interface LeaseWrite {
  holder: string;
  durationMs: number;
  transitions: number;
  acquireTime: string;
  renewTime: string;
  /** The record this write builds on; absent when there was no Lease. */
  resourceVersion: string | undefined;
  timeoutMs: number;
}

/** Reads and conditional writes of one Lease. */
export interface LeaseStore {
  /** Undefined when there is none. */
  read(timeoutMs: number): Promise<LeaseRecord | undefined>;
  /** Undefined when another was quicker. */
  write(write: LeaseWrite): Promise<LeaseRecord | undefined>;
}

/** A Lease by key. Writes succeed only on the record they build on, so of two writers one loses. */
export const createLeaseStore = (
  client: Pick<KubeClient, "get" | "create" | "replace">,
  key: Required<ObjectKey>,
  labels: Record<string, string> = {},
): LeaseStore => ({
  read: async (timeoutMs) => {
    try {
      return parseLease(await client.get(leases, key, { timeoutMs }));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  },
  write: async ({ holder, durationMs, transitions, acquireTime, renewTime, resourceVersion, timeoutMs }) => {
    const lease: Lease = {
      metadata: { ...key, labels, ...(resourceVersion && { resourceVersion }) },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: Math.max(1, Math.ceil(durationMs / 1000)),
        leaseTransitions: transitions,
        acquireTime,
        renewTime,
      },
    };
    try {
      const call = resourceVersion ? client.replace : client.create;
      return parseLease(await call(leases, lease, { timeoutMs }));
    } catch (error) {
      if (error instanceof ConflictError || error instanceof AlreadyExistsError) return undefined;
      throw error;
    }
  },
});
