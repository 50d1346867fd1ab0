import {
  API_GROUP_VERSION,
  REPORTED_VERSIONS_MAX,
  type GatewayReport,
  type GatewayReportStatus,
} from "@sless/contracts";
import type { VersionLoad } from "@sless/invoker";
import type { Identity } from "./presence-lease.js";

type ReportedVersion = GatewayReportStatus["versions"][number];

const byLastCall = (a: VersionLoad, b: VersionLoad): number => (b.lastCallTime ?? 0) - (a.lastCallTime ?? 0);

/** Whole seconds: a report is written at most once a second, and finer times would make each differ. */
const toTimestamp = (epochMs: number): string => new Date(Math.floor(epochMs / 1000) * 1000).toISOString();

const toReported = ({ versionUid, inFlight, queued, lastCallTime }: VersionLoad): ReportedVersion => ({
  uid: versionUid,
  inFlight,
  queued,
  ...(lastCallTime === undefined ? {} : { lastCallTime: toTimestamp(lastCallTime) }),
});

/** Loads as a report names them: the versions called last, in a fixed order so that equal loads compare equal. */
export const makeReportedVersions = (loads: readonly VersionLoad[]): ReportedVersion[] =>
  [...loads]
    .sort(byLastCall)
    .slice(0, REPORTED_VERSIONS_MAX)
    .map(toReported)
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));

export const makeReport = (
  identity: Identity,
  observedResourceVersion: string,
  versions: ReportedVersion[],
): GatewayReport => ({
  apiVersion: API_GROUP_VERSION,
  kind: "GatewayReport",
  metadata: { ...identity },
  status: { observedResourceVersion, renewTime: new Date().toISOString(), versions },
});
