import { FIELD_MANAGERS, LABELS } from "@sless/contracts";
import { leases, microTime, NotFoundError, type KubeClient } from "@sless/kube";

export interface Identity {
  /** System namespace. */
  readonly namespace: string;
  /** Name of this gateway's pod. */
  readonly name: string;
}

/** Says that this gateway lives; once it has lapsed nobody waits for its report any more. */
export interface PresenceLease {
  renew(): Promise<void>;
  remove(): Promise<void>;
}

/** A missing object is what a removal wants. */
export const ignoreNotFound = (error: unknown): void => {
  if (!(error instanceof NotFoundError)) throw error;
};

export const createPresenceLease = (
  client: Pick<KubeClient, "apply" | "delete">,
  identity: Identity,
  leaseSeconds: number,
): PresenceLease => {
  const acquireTime = microTime(Date.now());
  return {
    renew: async () => {
      const lease = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { ...identity, labels: { [LABELS.component]: "gateway" } },
        spec: {
          holderIdentity: identity.name,
          leaseDurationSeconds: leaseSeconds,
          acquireTime,
          renewTime: microTime(Date.now()),
        },
      };
      await client.apply(leases, lease, {
        fieldManager: FIELD_MANAGERS.gateway,
        force: true,
        timeoutMs: leaseSeconds * 1000,
      });
    },
    remove: () => client.delete(leases, identity).catch(ignoreNotFound),
  };
};
