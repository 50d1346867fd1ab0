import type { GatewayReport } from "@sless/contracts";
import type { Lease } from "@sless/kube";

/** A gateway replica that may be routing calls now. */
export interface LiveGateway {
  readonly name: string;
  /** Up to which resource version it has applied Functions; undefined before its first report. */
  readonly observed: bigint | undefined;
  /** When its Lease lapses unless it is renewed, in ms since the epoch. */
  readonly livesUntil: number;
}

const DEFAULT_LEASE_SECONDS = 15;

const lapsesAt = (lease: Lease): number => {
  const renewed = Date.parse(lease.spec?.renewTime ?? "");
  return renewed + (lease.spec?.leaseDurationSeconds ?? DEFAULT_LEASE_SECONDS) * 1000;
};

const observedBy = (report: GatewayReport | undefined): bigint | undefined => {
  const text = report?.status?.observedResourceVersion ?? "";
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
};

/**
 * Gateways whose Lease has not lapsed at `now`, with what they have applied. A lapsed or released one routes nothing
 * any more and does not count; one that has not reported yet counts as having applied nothing.
 */
export const liveGateways = (
  leases: readonly Lease[],
  reports: readonly GatewayReport[],
  now: number,
): readonly LiveGateway[] => {
  const byName = new Map(reports.map((report) => [report.metadata.name, report]));
  return leases
    .filter((lease) => (lease.spec?.holderIdentity ?? "") !== "" && lapsesAt(lease) > now)
    .map((lease) => {
      const name = lease.metadata.name ?? "";
      return { name, observed: observedBy(byName.get(name)), livesUntil: lapsesAt(lease) };
    });
};

/** Gateways that may still route by an older state than `resourceVersion`. */
export const laggards = (gateways: readonly LiveGateway[], resourceVersion: string): readonly LiveGateway[] => {
  const wanted = BigInt(resourceVersion);
  return gateways.filter(({ observed }) => observed === undefined || observed < wanted);
};
